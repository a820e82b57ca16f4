// Launches of kernels, and why one was refused.

#include <fmt/format.h>

#include "jit/runtime/gpu/cuda/module.h"
#include "jit/runtime/gpu/describe.h"

namespace Pipe::runtime::cuda {

namespace {

/// Shared memory that a kernel may use without being asked for.
constexpr int64_t usual_shared_bytes = 48 << 10;

CUresult allow_shared_memory(CudaDevice &device, GPUModule &module, LoadedFunction &f,
                             int64_t dynamic) {
    if (dynamic <= f.dynamic_limit.load(std::memory_order_acquire))
        return Success;
    std::lock_guard lock(state_of(module).mutex);
    if (dynamic <= f.dynamic_limit.load(std::memory_order_relaxed))
        return Success;
    const CUresult result = device.driver().FuncSetAttribute(f.function, FunctionMaxDynamicShared,
                                                             static_cast<int>(dynamic));
    if (result == Success)
        f.dynamic_limit.store(dynamic, std::memory_order_release);
    return result;
}

/// Which limits of the device or the kernel the launch exceeds, as sentences.
std::string exceeded(CudaDevice &device, const GPULaunch &launch, CUfunction function) {
    const Driver &d = device.driver();
    auto limit = [&](int attribute) {
        int value = 0;
        return d.DeviceGetAttribute(&value, attribute, device.device()) == Success ? value
                                                                                   : INT32_MAX;
    };
    std::string text;
    auto compare = [&](int64_t given, int64_t most, const std::string &what) {
        if (given > most)
            text += fmt::format(" It has {} {}, but at most {} are possible.", given, what, most);
    };
    const int64_t threads = int64_t{launch.threads[0]} * launch.threads[1] * launch.threads[2];
    int of_kernel = INT32_MAX;
    if (d.FuncGetAttribute(&of_kernel, FunctionMaxThreadsPerBlock, function) != Success)
        of_kernel = INT32_MAX;
    compare(threads, limit(MaxThreadsPerBlock), "threads per block");
    if (threads <= limit(MaxThreadsPerBlock))
        compare(threads, of_kernel, "threads per block, with the registers that each needs");
    for (int i = 0; i < 3; i++) {
        const std::string dimension(1, "xyz"[i]);
        compare(launch.threads[i], limit(MaxBlockDimX + i), "threads in dimension " + dimension);
        compare(launch.blocks[i], limit(MaxGridDimX + i), "blocks in dimension " + dimension);
    }
    compare(launch.shared_bytes, limit(MaxSharedMemoryPerBlockOptin), "bytes of shared memory");
    return text;
}

}  // namespace

void CudaDevice::launch(GPUModule &module, const GPULaunch &launch, void *const *params,
                        DeviceQueue queue) {
    if (launch.blocks[0] <= 0 || launch.blocks[1] <= 0 || launch.blocks[2] <= 0)
        return;  // nothing to compute
    InContext here(*this);
    LoadedFunction &f = loaded(module, *this).functions[static_cast<size_t>(launch.kernel)];
    const int64_t dynamic = launch.shared_bytes - module.kernels[launch.kernel].static_shared_bytes;
    auto fail_launch = [&](CUresult result, const char *call) {
        fail(result, call, describe(module, launch), exceeded(*this, launch, f.function));
    };
    if (launch.shared_bytes > usual_shared_bytes) {
        if (dynamic > INT32_MAX)
            fail_launch(InvalidValue, "cuLaunchKernel");
        const CUresult result = allow_shared_memory(*this, module, f, dynamic);
        if (result != Success) [[unlikely]]
            fail_launch(result, "cuFuncSetAttribute");
    }
    auto u = [](int32_t n) { return static_cast<unsigned>(n); };
    const CUresult result = driver_.LaunchKernel(
        f.function, u(launch.blocks[0]), u(launch.blocks[1]), u(launch.blocks[2]),
        u(launch.threads[0]), u(launch.threads[1]), u(launch.threads[2]),
        static_cast<unsigned>(dynamic), static_cast<CUstream>(queue.stream),
        const_cast<void **>(params), nullptr);
    if (result != Success) [[unlikely]]
        fail_launch(result, "cuLaunchKernel");
}

}  // namespace Pipe::runtime::cuda
