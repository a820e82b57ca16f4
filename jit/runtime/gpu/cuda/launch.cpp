// Launches of kernels, and why one was refused.

#include <fmt/format.h>

#include "jit/runtime/gpu/cuda/module.h"
#include "jit/runtime/gpu/describe.h"

namespace Pipe::runtime::cuda {

namespace {

/// Shared memory that a kernel may use without being asked for.
constexpr int64_t usual_shared_bytes = 48 << 10;

/// Two launches take no longer than a graph of them.
constexpr size_t least_for_graph = 3;

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

void CudaDevice::fail_launch(CUresult result, const char *call, const Launch &launch,
                             CUfunction function) {
    fail(result, call, describe(*launch.module, launch.launch),
         exceeded(*this, launch.launch, function));
}

PreparedLaunch CudaDevice::prepared(const Launch &launch, void **params) {
    const GPULaunch &l = launch.launch;
    LoadedModule &module = loaded(*launch.module, *this);
    LoadedFunction &f = module.functions[static_cast<size_t>(l.kernel)];
    const int64_t dynamic = l.shared_bytes - launch.module->kernels[l.kernel].static_shared_bytes;
    if (l.shared_bytes > usual_shared_bytes) {
        if (dynamic > INT32_MAX)
            fail_launch(InvalidValue, "cuLaunchKernel", launch, f.function);
        const CUresult result = allow_shared_memory(*this, *launch.module, f, dynamic);
        if (result != Success) [[unlikely]]
            fail_launch(result, "cuFuncSetAttribute", launch, f.function);
    }
    PreparedLaunch prepared{{f.function}, module.module};
    for (size_t d = 0; d < 3; d++) {
        prepared.kernel.blocks[d] = static_cast<unsigned>(l.blocks[d]);
        prepared.kernel.threads[d] = static_cast<unsigned>(l.threads[d]);
    }
    prepared.kernel.shared_bytes = static_cast<unsigned>(dynamic);
    prepared.kernel.params = params;
    return prepared;
}

void CudaDevice::launch_now(const Launch &launch, const PreparedLaunch &prepared, CUstream stream) {
    const KernelNode &k = prepared.kernel;
    const CUresult result =
        driver_.LaunchKernel(k.function, k.blocks[0], k.blocks[1], k.blocks[2], k.threads[0],
                             k.threads[1], k.threads[2], k.shared_bytes, stream, k.params, nullptr);
    if (result != Success) [[unlikely]]
        fail_launch(result, "cuLaunchKernel", launch, k.function);
}

void CudaDevice::launch(GPUModule &module, const GPULaunch &launch, void *const *params,
                        DeviceQueue queue) {
    if (launch.blocks[0] <= 0 || launch.blocks[1] <= 0 || launch.blocks[2] <= 0)
        return;  // nothing to compute
    InContext here(*this);
    submit(queue);
    const Launch one{&module, launch};
    launch_now(one, prepared(one, const_cast<void **>(params)),
               static_cast<CUstream>(queue.stream));
}

/// Launches in a stream that the user captures become part of a graph of his.
bool CudaDevice::is_captured(DeviceQueue queue) {
    int status = 0;
    if (!queue.own)
        check(driver_.StreamIsCapturing(static_cast<CUstream>(queue.stream), &status),
              "cuStreamIsCapturing");
    return status != 0;
}

/// False where nothing was launched, and nothing failed that another launch would not say better.
bool CudaDevice::launch_graph(const LaunchList &list, const std::vector<PreparedLaunch> &launches,
                              DeviceQueue queue) {
    if (launches.size() < least_for_graph || is_captured(queue))
        return false;
    LaunchGraph *graph = graphs_.take(static_cast<CUstream>(queue.stream), launches);
    if (!graph)
        return false;
    Answer answer = graphs_.prepare(*graph, launches, list);
    const bool is_ready = answer.result == Success;
    if (is_ready)
        answer = graphs_.launch(*graph);
    graphs_.give(*graph, answer.result != Success);
    if (answer.result == Success)
        return true;
    if (!is_ready && !loses_context(answer.result))
        return false;
    const Launch &first = list[0], &last = list[list.size() - 1];
    fail(answer.result, answer.call,
         fmt::format("a graph of {} kernels, from {} to {}", list.size(),
                     describe(*first.module, first.launch), describe(*last.module, last.launch)));
}

void CudaDevice::submit(DeviceQueue queue) {
    if (!queue.waiting || queue.waiting->empty())
        return;
    LaunchList &list = *queue.waiting;
    struct End {
        CudaDevice &device;
        LaunchList &list;
        ~End() {
            if (list.frees_memory) {
                std::lock_guard lock(device.mutex_);
                device.arena_.submitted(&list);
            }
            list.clear();
        }
    } end{*this, list};
    InContext here(*this);
    std::vector<PreparedLaunch> launches;
    launches.reserve(list.size());
    for (size_t i = 0; i < list.size(); i++)
        launches.push_back(prepared(list[i], list.params(i)));
    const bool together = launch_graph(list, launches, queue);
    for (size_t i = 0; i < list.size(); i++) {
        if (!together)
            launch_now(list[i], launches[i], static_cast<CUstream>(queue.stream));
        list.note_launched(list[i]);
    }
}

}  // namespace Pipe::runtime::cuda
