#include "support/target.h"

#include <algorithm>

#include <pipe/error.h>

#include "support/env.h"
#include "support/error.h"
#include "support/target_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace Pipe {

namespace {

using support::feature_info;
using support::FeatureKind;
using support::FeatureSet;

#if defined(__x86_64__)
/// The processor's feature bits, and the registers that the operating system saves.
FeatureSet x86_features() {
    FeatureSet features;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return features;
    features[Target::SSE41] = c >> 19 & 1;
    bool os_saves_registers = c >> 27 & 1;
    if (!os_saves_registers || !(c >> 28 & 1))
        return features;

    unsigned saved_low = 0, saved_high = 0;
    __asm__("xgetbv" : "=a"(saved_low), "=d"(saved_high) : "c"(0));
    constexpr unsigned ymm_state = 0x6, zmm_state = 0xe6;
    if ((saved_low & ymm_state) != ymm_state)
        return features;
    features[Target::AVX] = true;
    features[Target::FMA] = c >> 12 & 1;
    features[Target::F16C] = c >> 29 & 1;

    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return features;
    features[Target::AVX2] = b >> 5 & 1;
    constexpr unsigned base = 1u << 16 | 1u << 28, skylake = base | 1u << 17 | 1u << 30 | 1u << 31;
    const FeatureSet &below = support::needed_features(Target::AVX512);
    if ((saved_low & zmm_state) == zmm_state && (features & below) == below) {
        features[Target::AVX512] = (b & base) == base;
        features[Target::AVX512_Skylake] = (b & skylake) == skylake;
        constexpr unsigned ifma = 1u << 21, vbmi = 1u << 1;
        features[Target::AVX512_Cannonlake] =
            features[Target::AVX512_Skylake] && (b & ifma) && (c & vbmi);
    }
    return features;
}
#endif

Target detect() {
    Target t;
#if defined(__x86_64__)
    t.arch = Target::X86;
    t.features = x86_features();
#elif defined(__aarch64__)
    t.arch = Target::ARM;
#endif
#if defined(__linux__)
    t.os = Target::Linux;
#elif defined(__APPLE__)
    t.os = Target::OSX;
#endif
    return t;
}

const Target &host() {
    static const Target found = detect();  // asking the processor takes long in a virtual machine
    return found;
}

/// Cuts `prefix` (followed by '-' or the end) off the front of `rest`.
bool take(std::string &rest, const std::string &prefix) {
    if (rest.compare(0, prefix.size(), prefix) != 0)
        return false;
    if (rest.size() > prefix.size() && rest[prefix.size()] != '-')
        return false;
    rest.erase(0, std::min(rest.size(), prefix.size() + 1));
    return true;
}

struct ArchName {
    const char *name;
    Target::Arch arch;
    int bits;
};
constexpr ArchName arch_names[] = {
    {"x86-64", Target::X86, 64},         {"x86-32", Target::X86, 32},
    {"arm-64", Target::ARM, 64},         {"arm-32", Target::ARM, 32},
    {"hexagon-32", Target::Hexagon, 32}, {"powerpc-64", Target::POWERPC, 64},
    {"riscv-64", Target::RISCV, 64},     {"wasm-32", Target::WebAssembly, 32},
};

struct OSName {
    const char *name;
    Target::OS os;
};
constexpr OSName os_names[] = {
    {"linux", Target::Linux},
    {"osx", Target::OSX},
    {"windows", Target::Windows},
    {"android", Target::Android},
    {"ios", Target::IOS},
    {"qurt", Target::QuRT},
    {"noos", Target::NoOS},
    {"fuchsia", Target::Fuchsia},
    {"wasmrt", Target::WebAssemblyRuntime},
};

}  // namespace

namespace support {

namespace {

std::string feature_reason(const FeatureInfo &f, Target::Arch arch) {
    switch (f.kind) {
    case FeatureKind::X86:
        return arch == Target::X86 ? "" : "it is a feature of x86-64 processors";
    case FeatureKind::ARM:
        return arch == Target::ARM ? "" : "it is a feature of 64-bit ARM processors";
    case FeatureKind::Option:
    case FeatureKind::Nothing:
    case FeatureKind::CUDA:
        return "";
    case FeatureKind::OtherGPU:
        return "Pipe generates kernels for NVIDIA GPUs only. Use the feature cuda, or schedule "
               "with parallel() and "
               "vectorize() for the CPU";
    case FeatureKind::OtherProcessor:
        return "Pipe does not generate code for such processors";
    case FeatureKind::Variable:
        return "Pipe does not generate scalable vectors; on ARM it uses NEON";
    case FeatureKind::Tool:
        break;
    }
    return "generated code cannot be instrumented in this way. To find errors, use "
           "Pipeline::realize_reference or "
           "tracing";
}

}  // namespace

std::string unsupported_reason(const Target &target) {
    auto about = [&](const std::string &why) {
        return "Target " + target.to_string() + ": " + why;
    };
    if (target.arch != Target::X86 && target.arch != Target::ARM)
        return about("Pipe generates code for x86-64 and arm-64 only.");
    if (target.bits != 64)
        return about("Pipe generates 64-bit code only.");
    if (target.os != Target::Linux && target.os != Target::OSX)
        return about("Pipe generates code for linux and osx only.");
    if (target.has_feature(Target::CUDA) && target.has_feature(Target::CUDAEmulator))
        return about("kernels run either on a GPU (cuda) or in the emulator (cuda_emulator).");
    for (int i = 0; i < Target::FeatureEnd; i++) {
        auto f = static_cast<Target::Feature>(i);
        if (!target.has_feature(f))
            continue;
        const FeatureInfo &info = feature_info(f);
        if (std::string why = feature_reason(info, target.arch); !why.empty())
            return about(std::string("the feature ") + info.name + ": " + why + ".");
    }
    return "";
}

bool has_masked_access(const Target &target, const Type &type) {
    return target.has_feature(type.bits() >= 32 ? Target::AVX2 : Target::AVX512_Skylake);
}

// The same on all machines that run x86-64, and on most that run 64-bit Arm.
int cache_line_bytes(const Target &) {
    return 64;
}
int page_bytes(const Target &) {
    return 4096;
}

}  // namespace support

Target::Target(OS os_, Arch arch_, int bits_, const std::vector<Feature> &list)
    : os(os_), arch(arch_), bits(bits_) {
    set_features(list);
}

Target::Target(const std::string &name) {
    std::string rest = name;
    if (take(rest, "host")) {
        *this = host();
    } else {
        for (const ArchName &a : arch_names)
            if (take(rest, a.name))
                arch = a.arch, bits = a.bits;
    }
    while (!rest.empty()) {
        std::string part = rest.substr(0, rest.find('-'));
        take(rest, part);
        auto known = std::find_if(std::begin(os_names), std::end(os_names),
                                  [&](const OSName &o) { return part == o.name; });
        Feature feature = feature_from_name(part);
        if (known != std::end(os_names))
            os = known->os;
        else if (feature != FeatureEnd)
            set_feature(feature);
        else
            throw CompileError(
                "Target \"" + name + "\": \"" + part +
                "\" is not an architecture, operating system or feature. A target "
                "looks like \"x86-64-linux-avx2-fma\", \"arm-64-linux\" or \"host\".");
    }
    if (arch == ArchUnknown || os == OSUnknown)
        throw CompileError("Target \"" + name +
                           "\" must name an architecture (x86-64, arm-64) and "
                           "an operating system (linux, osx), or begin with \"host\".");
}

bool Target::validate_target_string(const std::string &name) {
    try {
        support::SuppressErrorReporting suppressed;
        return !Target(name).has_unknowns();
    } catch (const CompileError &) {
        return false;
    }
}

Target::Feature Target::feature_from_name(const std::string &name) {
    int f = 0;
    while (f < FeatureEnd && name != feature_info(static_cast<Feature>(f)).name)
        f++;
    return static_cast<Feature>(f);
}

std::string Target::feature_to_name(Feature f) {
    return feature_info(f).name;
}

bool Target::features_any_of(const std::vector<Feature> &list) const {
    return std::any_of(list.begin(), list.end(), [&](Feature f) { return has_feature(f); });
}

bool Target::features_all_of(const std::vector<Feature> &list) const {
    return std::all_of(list.begin(), list.end(), [&](Feature f) { return has_feature(f); });
}

void Target::set_feature(Feature f, bool value) {
    *this = value ? with_feature(f) : without_feature(f);
}

void Target::set_features(const std::vector<Feature> &list, bool value) {
    for (Feature f : list)
        set_feature(f, value);
}

Target Target::with_feature(Feature f) const {
    Target t = *this;
    t.features |= support::needed_features(feature_info(f).feature);
    t.features.set(f);
    return t;
}

Target Target::without_feature(Feature f) const {
    Target t = *this;
    t.features.reset(feature_info(f).feature);
    for (size_t g = 0; g < FeatureEnd; g++)
        if (support::needed_features(static_cast<Feature>(g))[f])
            t.features.reset(g);
    return t;
}

Target Target::with_implied_features() const {
    Target t = *this;
    for (size_t f = 0; f < FeatureEnd; f++)
        if (features[f])
            t.features |= support::needed_features(static_cast<Feature>(f));
    return t;
}

Target Target::machine() const {
    Target t = *this;
    for (size_t f = 0; f < FeatureEnd; f++) {
        FeatureKind kind = feature_info(static_cast<Feature>(f)).kind;
        if (kind == FeatureKind::Option || kind == FeatureKind::Nothing ||
            kind == FeatureKind::CUDA)
            t.features.reset(f);
    }
    return t;
}

bool Target::supported() const {
    return support::unsupported_reason(*this).empty();
}

bool Target::has_gpu_feature() const {
    for (size_t f = 0; f < FeatureEnd; f++)
        if (features[f] && feature_info(static_cast<Feature>(f)).kind == FeatureKind::OtherGPU)
            return true;
    return has_cuda();
}

int Target::natural_vector_size(const Type &type) const {
    // AVX has no 32-byte integer operations; AVX2 does. The same holds for AVX512 and its Skylake
    // variant.
    bool widest = has_feature(AVX512_Skylake) || (has_feature(AVX512) && type.bits() >= 32);
    bool wide = has_feature(AVX2) || (has_feature(AVX) && type.is_float());
    int register_bytes = widest ? 64 : wide ? 32 : 16;
    return std::max(1, register_bytes / std::max(1, type.bytes()));
}

std::string Target::to_string() const {
    std::string s = "unknown";
    for (const ArchName &a : arch_names)
        if (a.arch == arch && a.bits == bits)
            s = a.name;
    std::string system = "unknown";
    for (const OSName &o : os_names)
        if (o.os == os)
            system = o.name;
    s += "-" + system;
    for (size_t f = 0; f < FeatureEnd; f++)
        if (features[f])
            s += std::string("-") + feature_info(static_cast<Feature>(f)).name;
    return s;
}

Target get_host_target() {
    std::string name = support::env("PIPE_TARGET"), why;
    if (name.empty())
        return host();
    try {
        support::SuppressErrorReporting suppressed;
        return Target(name);
    } catch (const CompileError &error) {
        why = error.what();
    }
    throw CompileError("The environment variable PIPE_TARGET: " + why);
}

bool support::runs_on_this_processor(const Target &target) {
    const Target &here = host();
    FeatureSet missing = target.machine().features & ~here.features;
    return target.supported() && target.arch == here.arch && target.os == here.os && missing.none();
}

}  // namespace Pipe
