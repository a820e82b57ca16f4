#include "apps/bench/peers.h"

#include "apps/bench/peers/pipe_arrays.h"

#include <pipe/pipe.h>

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include <dlfcn.h>

namespace bench {
namespace {

struct Library {
    decltype(&pipe_peer_variants) variants;
    decltype(&pipe_peer_name) name;
    decltype(&pipe_peer_target) target;
    decltype(&pipe_peer_set_threads) set_threads;
    decltype(&pipe_peer_run) run;
};

std::string target_name() {
    const char *name = std::getenv("PIPE_TARGET");
    return name ? name : "";
}

/// Restricts libraries that select their code at run time to the instructions of PIPE_TARGET. They
/// read these variables when they are loaded; values set by the user are kept.
void restrict_libraries() {
    using Pipe::Target;
    const Target target = Pipe::get_host_target();
    if (target_name().empty() || target.arch != Target::X86)
        return;
    struct Level {
        Target::Feature feature;
        const char *onednn, *openblas;
    };
    static const Level levels[] = {{Target::AVX512_Skylake, "AVX512_CORE", "SkylakeX"},
                                   {Target::AVX2, "AVX2", "Haswell"},
                                   {Target::AVX, "AVX", "Sandybridge"},
                                   {Target::SSE41, "SSE41", "Nehalem"}};
    for (const Level &level : levels) {
        if (!target.has_feature(level.feature))
            continue;
        setenv("DNNL_MAX_CPU_ISA", level.onednn, 0);
        setenv("OPENBLAS_CORETYPE", level.openblas, 0);
        break;
    }
    if (!target.has_feature(Target::AVX512_Skylake))
        setenv("OPENCV_CPU_DISABLE", target.has_feature(Target::AVX2) ? "AVX512F" : "AVX2,AVX512F",
               0);
}

/// Excludes variants that were compiled for another target than Pipe's variants.
bool has_target(const Library &library) {
    const char *compiled_for = library.target();
    if (!compiled_for || compiled_for == target_name())
        return true;
    fmt::print(
        stderr,
        "{} is left out: it was compiled for the target \"{}\", PIPE_TARGET is \"{}\" (empty: the "
        "machine at hand). ./run bench --with-peers compiles it again.\n",
        library.name(), compiled_for, target_name());
    return false;
}

/// The libraries in the directory of this program. They stay loaded until the process ends.
const std::vector<Library> &libraries() {
    static const std::vector<Library> found = [] {
        restrict_libraries();
        std::vector<Library> list;
        const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
        for (std::string peer : {"halide", "opencv", "onednn", "openblas"}) {
            const auto file = here / ("libpipe_peers_" + peer + ".so");
            void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
            if (!handle)
                continue;
            Library library{};
            auto load = [&](auto &function, const char *symbol) {
                function =
                    reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(handle, symbol));
                return function != nullptr;
            };
            if (load(library.variants, "pipe_peer_variants") &&
                load(library.name, "pipe_peer_name") && load(library.target, "pipe_peer_target") &&
                load(library.set_threads, "pipe_peer_set_threads") &&
                load(library.run, "pipe_peer_run") && has_target(library)) {
                list.push_back(library);
            }
        }
        return list;
    }();
    return found;
}

}  // namespace

std::vector<std::string> peer_names() {
    std::vector<std::string> names;
    for (const Library &library : libraries())
        names.push_back(library.name());
    return names;
}

std::vector<Variant> peer_variants(const apps::App &app, const Data &data, int threads,
                                   const Wanted &wanted) {
    std::vector<Variant> variants;
    for (const Library &library : libraries()) {
        library.set_threads(threads);
        int count = 0;
        const PeerVariant *list = library.variants(&count);
        for (int i = 0; i < count; ++i) {
            if (!names(list[i].app, app.name) || !wanted(list[i].variant))
                continue;
            Variant v;
            v.name = list[i].variant;
            v.failure = list[i].failure;
            v.schedule_ms = list[i].schedule_ms;
            v.lower_ms = list[i].lower_ms;
            v.llvm_ms = list[i].llvm_ms;
            std::vector<PeerArray> in;
            for (const Pipe::Buffer<> &input : data.inputs)
                in.push_back(peer_array(input));
            v.run = [run = library.run, i, in, out = peer_array(data.output)] {
                if (run(i, in.data(), int(in.size()), &out) != 0)
                    throw std::runtime_error("the kernel reported an error");
            };
            variants.push_back(std::move(v));
        }
    }
    return variants;
}

}  // namespace bench
