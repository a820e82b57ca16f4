#include <pipe/target.h>

#include <algorithm>
#include <array>

#include <pipe/error.h>

#include "support/env.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace Pipe {

namespace {

struct FeatureInfo {
    const char *name;
    uint32_t needs;  ///< the features that this one builds on, as a set
    bool instruction_set = true;  ///< of the processor; else a wish for how to compile
};

constexpr uint32_t bit(Target::Feature f) {
    return 1u << f;
}

constexpr uint32_t avx_set = bit(Target::SSE41) | bit(Target::AVX);

/// Indexed by Feature.
constexpr std::array<FeatureInfo, Target::FeatureEnd> feature_table = {{
    {"sse41", 0},
    {"avx", bit(Target::SSE41)},
    {"avx2", avx_set},
    {"fma", avx_set},
    {"f16c", avx_set},
    {"avx512_skylake", avx_set | bit(Target::AVX2) | bit(Target::FMA) | bit(Target::F16C)},
    {"profile", 0, false},
    {"fast_math", 0, false},
    {"quick_compile", 0, false},
}};

#if defined(__x86_64__)
/// The processor's own words, and those of the operating system on the registers that it saves.
uint32_t x86_features() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
    uint32_t features = c >> 19 & 1 ? bit(Target::SSE41) : 0;
    bool os_saves_registers = c >> 27 & 1;
    if (!os_saves_registers || !(c >> 28 & 1)) return features;

    unsigned saved_low = 0, saved_high = 0;
    __asm__("xgetbv" : "=a"(saved_low), "=d"(saved_high) : "c"(0));
    constexpr unsigned ymm_state = 0x6, zmm_state = 0xe6;
    if ((saved_low & ymm_state) != ymm_state) return features;
    features |= bit(Target::AVX);
    if (c >> 12 & 1) features |= bit(Target::FMA);
    if (c >> 29 & 1) features |= bit(Target::F16C);

    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return features;
    if (b >> 5 & 1) features |= bit(Target::AVX2);
    constexpr unsigned skylake = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
    uint32_t below = feature_table[Target::AVX512_Skylake].needs;
    if ((b & skylake) == skylake && (saved_low & zmm_state) == zmm_state &&
        (features & below) == below) {
        features |= bit(Target::AVX512_Skylake);
    }
    return features;
}
#endif

Target detect() {
    Target t;
#if defined(__x86_64__)
    t.arch = Target::Arch::X86_64;
    t.features = x86_features();
#elif defined(__aarch64__)
    t.arch = Target::Arch::AArch64;
#endif
#if defined(__linux__)
    t.os = Target::OS::Linux;
#elif defined(__APPLE__)
    t.os = Target::OS::MacOS;
#endif
    return t;
}

const Target &host() {
    static const Target found = detect();  // asking the processor takes long in a virtual machine
    return found;
}

/// Cuts `prefix` (followed by '-' or the end) off the front of `rest`.
bool take(std::string &rest, const std::string &prefix) {
    if (rest.compare(0, prefix.size(), prefix) != 0) return false;
    if (rest.size() > prefix.size() && rest[prefix.size()] != '-') return false;
    rest.erase(0, std::min(rest.size(), prefix.size() + 1));
    return true;
}

}  // namespace

Target::Target(OS os_, Arch arch_, std::initializer_list<Feature> list) : arch(arch_), os(os_) {
    for (Feature f : list) set_feature(f);
}

Target::Target(const std::string &name) {
    std::string rest = name;
    if (take(rest, "host")) {
        *this = host();
    } else if (take(rest, "x86-64")) {
        arch = Arch::X86_64;
    } else if (take(rest, "arm-64")) {
        arch = Arch::AArch64;
    }
    while (!rest.empty()) {
        std::string part = rest.substr(0, rest.find('-'));
        take(rest, part);
        auto feature = std::find_if(feature_table.begin(), feature_table.end(),
                                    [&](const FeatureInfo &f) { return part == f.name; });
        if (part == "linux") {
            os = OS::Linux;
        } else if (part == "osx") {
            os = OS::MacOS;
        } else if (feature != feature_table.end()) {
            set_feature(static_cast<Feature>(feature - feature_table.begin()));
        } else {
            throw CompileError(
                "target \"" + name + "\": \"" + part +
                "\" is not an architecture, operating system or feature; a target "
                "looks like \"x86-64-linux-avx2-fma\", \"arm-64-linux\" or \"host\"");
        }
    }
    if (arch == Arch::Unknown || os == OS::Unknown) {
        throw CompileError("target \"" + name +
                           "\" must name an architecture (x86-64, arm-64) and "
                           "an operating system (linux, osx), or begin with \"host\"");
    }
    if (arch != Arch::X86_64 && machine().features != 0) {
        throw CompileError("target \"" + name + "\" has features that only x86-64 has");
    }
}

void Target::set_feature(Feature f, bool value) {
    *this = value ? with_feature(f) : without_feature(f);
}

Target Target::with_feature(Feature f) const {
    Target t = *this;
    t.features |= bit(f) | feature_table[f].needs;
    return t;
}

Target Target::without_feature(Feature f) const {
    Target t = *this;
    for (int g = 0; g < FeatureEnd; g++) {
        if (g == f || (feature_table[g].needs & bit(f)) != 0) t.features &= ~(1u << g);
    }
    return t;
}

Target Target::machine() const {
    Target t = *this;
    for (int f = 0; f < FeatureEnd; f++) {
        if (!feature_table[f].instruction_set) t.features &= ~bit(Feature(f));
    }
    return t;
}

int Target::natural_vector_size(Type type) const {
    // AVX has no integer operations of 32 bytes; AVX2 does.
    bool wide = has_feature(AVX2) || (has_feature(AVX) && type.is_float());
    int register_bytes = has_feature(AVX512_Skylake) ? 64 : wide ? 32 : 16;
    return std::max(1, register_bytes / std::max(1, type.bytes()));
}

std::string Target::to_string() const {
    std::string s = arch == Arch::X86_64 ? "x86-64" : arch == Arch::AArch64 ? "arm-64" : "unknown";
    s += os == OS::Linux ? "-linux" : os == OS::MacOS ? "-osx" : "-unknown";
    for (int f = 0; f < FeatureEnd; f++) {
        if (features >> f & 1) s += std::string("-") + feature_table[f].name;
    }
    return s;
}

Target get_host_target() {
    std::string name = support::env("PIPE_TARGET");
    if (!name.empty()) return Target(name);
    return host();
}

}  // namespace Pipe
