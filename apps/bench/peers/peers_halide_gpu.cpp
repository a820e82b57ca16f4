// The objects that halide_peers compiled for GPUs, as a library of peers.
#include "apps/bench/peers/gpu_peer_api.h"
#include "apps/bench/peers/halide_table.h"

#include <HalideRuntimeCuda.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>

#include <dlfcn.h>

namespace {

const char *const max_registers = "HL_CUDA_JIT_MAX_REGISTERS";

/// Of a machine without the files for development, too.
void *load_driver(const char *name) {
    void *library = dlopen(name, RTLD_LAZY);
    return library || std::strcmp(name, "libcuda.so") != 0 ? library
                                                           : dlopen("libcuda.so.1", RTLD_LAZY);
}

/// Null where there is none.
void *primary_context() {
    void *driver = load_driver("libcuda.so");
    auto function = [&]<typename F>(F *, const char *name) -> F * {
        return driver ? reinterpret_cast<F *>(dlsym(driver, name)) : nullptr;
    };
    const auto init = function(static_cast<int (*)(unsigned)>(nullptr), "cuInit");
    const auto get_device = function(static_cast<int (*)(int *, int)>(nullptr), "cuDeviceGet");
    const auto retain =
        function(static_cast<int (*)(void **, int)>(nullptr), "cuDevicePrimaryCtxRetain");
    const int ordinal = std::max(0, halide_get_gpu_device(nullptr));  // -1: not set
    int device = 0;
    void *context = nullptr;
    if (!init || !get_device || !retain || init(0) != 0 || get_device(&device, ordinal) != 0 ||
        retain(&context, device) != 0)
        return nullptr;
    return context;
}

/// Pipe's own, so that the device need not switch between two. None at the end of the process, when Halide frees what it
/// has: the context is not its own.
int acquire_context(void *, void **context, bool create) {
    static void *const primary = primary_context();
    *context = create ? primary : nullptr;
    return create && !primary ? halide_error_code_gpu_device_error : halide_error_code_success;
}

/// Halide has 64 registers for a thread if this variable does not say otherwise, which its own programs for convolutions
/// and for products of matrices set. Read when the kernels are loaded. A value set by the user is kept.
void set_registers(const Row &row) {
    static const bool by_user = std::getenv(max_registers) != nullptr;
    if (by_user)
        return;
    const std::string app = row.app, variant = row.variant;
    if (variant == "halide-hand" && (app == "conv_layer" || app == "2mm"))
        setenv(max_registers, "256", 1);
    else
        unsetenv(max_registers);
}

}  // namespace

struct PeerRun {
    ~PeerRun() {
        for (Argument &a : arguments)
            halide_device_free(nullptr, &a.buffer);
    }
    int index;
    std::deque<Argument> arguments{};  // which must not move
    std::vector<void *> pointers{};
};

extern "C" {

PeerRun *pipe_peer_prepare(int index, const PeerArray *inputs, int count, const PeerArray *out) {
    halide_set_error_handler(print_error);
    halide_set_custom_load_library(load_driver);
    halide_set_cuda_acquire_context(acquire_context);
    set_registers(rows[index]);
    const halide_device_interface_t *cuda = halide_cuda_device_interface();
    auto *run = new PeerRun{index};
    int failed = 0;
    for (int i = 0; i < count; ++i)
        run->arguments.emplace_back(inputs[i]);
    run->arguments.emplace_back(*out);
    for (Argument &a : run->arguments) {
        a.buffer.set_host_dirty();
        failed |= halide_copy_to_device(nullptr, &a.buffer, cuda);
        run->pointers.push_back(&a.buffer);
    }
    if (failed == 0)
        return run;
    delete run;
    return nullptr;
}

int pipe_peer_run_prepared(PeerRun *run) {
    const int failed = rows[run->index].run(run->pointers.data());
    return failed ? failed : halide_device_sync(nullptr, &run->arguments.back().buffer);
}

int pipe_peer_finish(PeerRun *run, bool copy) {
    const int failed = copy ? halide_copy_to_host(nullptr, &run->arguments.back().buffer) : 0;
    delete run;
    return failed;
}
}
