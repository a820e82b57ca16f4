#include "support/env.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <unistd.h>

#include <pipe/environment.h>
#include <pipe/error.h>

namespace Pipe {

namespace support {

namespace {

constexpr std::array variables = {
    EnvVariable{"PIPE_TARGET", "the host",
                "target to compile for, as Target(name) takes it (\"x86-64-linux-avx2-fma\")",
                false},
    EnvVariable{
        "PIPE_DUMP", "nothing is written",
        "directory for the graph, the region plan, the loop nest after each pass, the LLVM IR and the "
        "assembly of everything that is compiled",
        false},
    EnvVariable{"HL_PERMIT_FAILED_UNROLL", "compiling such a pipeline fails",
                "if 1, an unrolled loop whose extent has no constant bound stays a serial loop",
                false},
    EnvVariable{"PIPE_HINTS", "on, but off in programs that include <pipe/halide.h>",
                "0 turns hints off (set_hints), anything else on", false},
    EnvVariable{
        "PIPE_SYMBOLS", "off",
        "\"perf\", \"gdb\" or \"perf,gdb\": these tools show generated functions, whose code "
        "then stays in memory, by the names of their Funcs and loops",
        false},
    EnvVariable{"HL_GPU_DEVICE", "0",
                "number of the GPU that pipelines run on if JITUserContext::gpu_device is not set",
                false},
    EnvVariable{"PIPE_GPU_CACHE", "$XDG_CACHE_HOME/pipe, or ~/.cache/pipe",
                "folder that keeps GPU programs, linked by the driver, between processes; 0: none is kept",
                false},
    EnvVariable{"PIPE_MACHINE", "the file \"machine\" in the folder $XDG_CACHE_HOME/pipe, or ~/.cache/pipe",
                "file with the rates of this machine's caches and memory, for the autoscheduler and Pipeline::predict; if "
                "there is no such file, they are measured (300 ms) and written to it; 0: typical rates",
                false},
    EnvVariable{
        "OMP_NUM_THREADS", "the number of processors available to the process",
        "variable of OpenMP: number of threads of parallel loops, and of cores to schedule for",
        false},
    EnvVariable{"PIPE_LIBCLC", "/usr/lib/clc, /usr/share/clc, and the same in /usr/local",
                "folder with libclc's nvptx64--.bc: mathematical functions in kernels", false},
    EnvVariable{"PIPE_CUDA_DRIVER", "libcuda.so.1", "library that is loaded as the CUDA driver",
                true},
    EnvVariable{"PIPE_ACCEPT", "results are compared with them",
                "if set, the golden files are overwritten with the results", true},
    EnvVariable{"PIPE_FUZZ_CASES", "a fixed number", "number of random pipelines", true},
    EnvVariable{"PIPE_FUZZ_SEED", "a fixed seed", "seed of the first random pipeline", true},
    EnvVariable{"PIPE_FUZZ_MODE", "all of them in turn", "the only kind of schedule to test", true},
    EnvVariable{"PIPE_FUZZ_TARGET", "the emulator", "target of random schedules for a GPU", true},
    EnvVariable{"PIPE_FUZZ_SHOW", "only failures are", "if set, every random case is printed",
                true},
    EnvVariable{"PIPE_FUZZ_HERE", "each runs in a process of its own",
                "if set, random cases run in the process itself (for a debugger)", true},
};

bool known(const char *name, size_t length) {
    return std::any_of(variables.begin(), variables.end(), [&](const EnvVariable &v) {
        return std::strlen(v.name) == length && std::strncmp(v.name, name, length) == 0;
    });
}

void warn_once() {
    static const bool warned = [] {
        std::string warning = unknown_variables(environ);
        std::fputs(warning.c_str(), stderr);
        return true;
    }();
    (void)warned;
}

}  // namespace

std::span<const EnvVariable> env_variables() {
    return variables;
}

std::string unknown_variables(const char *const *block) {
    std::string names;
    for (; block && *block; block++) {
        size_t length = std::strcspn(*block, "=");
        bool ours = std::strncmp(*block, "PIPE_", 5) == 0;
        if (ours && !known(*block, length))
            names += (names.empty() ? "" : ", ") + std::string(*block, length);
    }
    if (names.empty())
        return "";
    return "Pipe: unknown environment variables: " + names +
           " (Pipe::describe_environment() lists the known ones)\n";
}

std::string env(const char *name) {
    if (!known(name, std::strlen(name)))
        throw InternalError(std::string(name) + " is not in the table of environment variables");
    warn_once();
    const char *value = std::getenv(name);
    return value ? value : "";
}

int64_t env_int(const char *name, int64_t otherwise) {
    std::string text = env(name);
    char *end = nullptr;
    int64_t value = std::strtoll(text.c_str(), &end, 10);
    return text.empty() || *end != '\0' ? otherwise : value;
}

std::string dump_folder() {
    std::string folder = env("PIPE_DUMP");
    std::error_code error;
    if (!folder.empty())
        std::filesystem::create_directories(folder, error);
    if (error)
        throw RuntimeError("PIPE_DUMP: the directory '" + folder + "' cannot be created: " +
                           error.message() + ". Use a writable directory, or unset the variable.");
    return folder;
}

std::string gpu_cache_folder() {
    const std::string chosen = env("PIPE_GPU_CACHE");
    if (!chosen.empty())
        return chosen == "0" ? "" : chosen;
    return cache_folder();
}

std::string cache_folder() {
    auto absolute = [](const char *folder) { return folder && *folder == '/'; };
    if (const char *cache = std::getenv("XDG_CACHE_HOME"); absolute(cache))
        return std::string(cache) + "/pipe";
    const char *home = std::getenv("HOME");
    return absolute(home) ? std::string(home) + "/.cache/pipe" : "";
}

}  // namespace support

std::string describe_environment() {
    std::string text;
    for (const support::EnvVariable &v : support::env_variables()) {
        if (v.for_tests)
            continue;
        text +=
            std::string(v.name) + "\n    " + v.meaning + "\n    if not set: " + v.otherwise + "\n";
    }
    return text;
}

}  // namespace Pipe
