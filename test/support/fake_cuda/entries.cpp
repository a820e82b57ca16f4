// The driver's functions.

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "test/support/fake_cuda/state.h"

using namespace fake_cuda;

#define BEGIN(needs_context)                                                                       \
    std::lock_guard lock(state().mutex);                                                           \
    if (CUresult answer = begin(__func__, needs_context); answer != Success)                       \
    return answer

// NOLINTBEGIN: the names are the driver's
extern "C" {

CUresult cuInit(unsigned) {
    BEGIN(false);
    state().initialized = true;
    map_memory();
    return Success;
}
CUresult cuDriverGetVersion(int *version) {
    BEGIN(false);
    *version = settings().version;
    return Success;
}
CUresult cuDeviceGetCount(int *count) {
    BEGIN(false);
    *count = settings().devices;
    return Success;
}
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    BEGIN(false);
    if (ordinal >= settings().devices)
        return InvalidDevice;
    *device = ordinal + 10;  // no ordinal
    return Success;
}
CUresult cuDeviceGetName(char *name, int bytes, CUdevice device) {
    BEGIN(false);
    std::snprintf(name, static_cast<size_t>(bytes), "Fake GPU %c", 'A' + device - 10);
    return Success;
}
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice) {
    BEGIN(false);
    switch (attribute) {
    case MaxThreadsPerBlock:
        *value = 1024;
        break;
    case MaxBlockDimX:
    case MaxBlockDimX + 1:
        *value = 1024;
        break;
    case MaxBlockDimX + 2:
        *value = 64;
        break;
    case MaxGridDimX:
        *value = INT32_MAX;
        break;
    case MaxGridDimX + 1:
    case MaxGridDimX + 2:
        *value = 65535;
        break;
    case MaxSharedMemoryPerBlockOptin:
        *value = 99 << 10;
        break;
    case CapabilityMajor:
        *value = settings().capability / 10;
        break;
    case CapabilityMinor:
        *value = settings().capability % 10;
        break;
    default:
        return InvalidValue;
    }
    return Success;
}
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice) {
    BEGIN(false);
    *bytes = settings().memory;
    return Success;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    BEGIN(false);
    CUcontext &primary = state().primary[device - 10];
    if (!primary) {
        primary = keep(new CUctx_st{device});
        state().contexts.insert(primary);
    }
    *context = primary;
    return Success;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
    BEGIN(false);
    return Success;
}
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    BEGIN(false);
    CUcontext &primary = state().primary[device - 10];
    if (primary)
        destroy_context(primary);
    primary = nullptr;
    return Success;
}
CUresult cuCtxGetCurrent(CUcontext *context) {
    BEGIN(false);
    *context = context_here();
    return Success;
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
    BEGIN(false);
    if (!state().contexts.count(context))
        return InvalidContext;
    current.push_back(context);
    return Success;
}
CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    BEGIN(false);
    if (current.empty())
        return InvalidContext;
    *context = current.back();
    current.pop_back();
    return Success;
}
CUresult cuCtxGetDevice(CUdevice *device) {
    BEGIN(true);
    *device = context_here()->device;
    return Success;
}
CUresult cuCtxSynchronize() {
    BEGIN(true);
    return run_all(context_here());
}
CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
    BEGIN(true);
    run_all(context_here());
    if (bytes == 0)
        return InvalidValue;
    size_t used = 0;
    for (const auto &[at, m] : state().memory)
        used += m.context == context_here() ? m.bytes : 0;
    *address = used + bytes > settings().memory ? 0 : find_gap(bytes);
    if (*address == 0)
        return OutOfMemory;
    state().memory[*address] = {bytes, context_here(), false};
    std::memset(memory_at(*address, bytes), 0xcd, bytes);
    return Success;
}
CUresult cuMemFree_v2(CUdeviceptr address) {
    BEGIN(true);
    run_all(context_here());
    auto found = state().memory.find(address);
    if (found == state().memory.end() || found->second.users) {
        note_misuse("memory is freed that was not allocated");
        return InvalidValue;
    }
    state().memory.erase(found);
    return Success;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    BEGIN(true);
    if (!find_memory(to, bytes))
        return InvalidValue;
    std::string staged(static_cast<const char *>(from), bytes);
    return enqueue(stream, [=] {
        std::memcpy(memory_at(to, bytes), staged.data(), bytes);
        return Success;
    });
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    BEGIN(true);
    if (!find_memory(from, bytes))
        return InvalidValue;
    return enqueue(stream, [=] {
        std::memcpy(to, memory_at(from, bytes), bytes);
        return Success;
    });
}
CUresult cuMemcpy2DAsync_v2(const Copy2D *given, CUstream stream) {
    BEGIN(true);
    const Copy2D c = *given;
    const bool up = c.source_type == HostMemory;
    const size_t pitch = up ? c.target_pitch : c.source_pitch;
    const size_t last = (c.rows - 1) * pitch + c.bytes;
    if (c.bytes > c.source_pitch || c.bytes > c.target_pitch || pitch > INT32_MAX ||
        !find_memory(up ? c.target_device : c.source_device, last))
        return InvalidValue;
    std::vector<std::string> staged;
    for (size_t y = 0; up && y < c.rows; y++)
        staged.emplace_back(static_cast<const char *>(c.source_host) + y * c.source_pitch, c.bytes);
    return enqueue(stream, [=] {
        for (size_t y = 0; y < c.rows; y++) {
            if (up)
                std::memcpy(memory_at(c.target_device + y * c.target_pitch, c.bytes),
                            staged[y].data(), c.bytes);
            else
                std::memcpy(static_cast<char *>(c.target_host) + y * c.target_pitch,
                            memory_at(c.source_device + y * c.source_pitch, c.bytes), c.bytes);
        }
        return Success;
    });
}
CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    BEGIN(true);
    if (flags != stream_non_blocking)
        note_misuse("a stream that waits for the null stream");
    *stream = keep(new CUstream_st{context_here(), {}});
    state().streams.insert(*stream);
    return Success;
}
CUresult cuStreamSynchronize(CUstream stream) {
    BEGIN(true);
    if (!stream)
        return run_all(context_here());
    return stream_of(stream) ? run_work(stream) : 400;
}
CUresult cuEventCreate(CUevent *event, unsigned) {
    BEGIN(true);
    *event = keep(new CUevent_st{context_here()});
    state().events.insert(*event);
    return Success;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
    BEGIN(true);
    return enqueue(stream, [=] {
        event->milliseconds = state().clock;
        return Success;
    });
}
CUresult cuEventElapsedTime(float *milliseconds, CUevent first, CUevent second) {
    BEGIN(true);
    if (first->milliseconds < 0 || second->milliseconds < 0)
        return 600;  // CUDA_ERROR_NOT_READY
    *milliseconds = static_cast<float>(second->milliseconds - first->milliseconds);
    return Success;
}
CUresult cuEventDestroy_v2(CUevent event) {
    BEGIN(true);
    if (!state().events.erase(event))
        note_misuse("a dead event");
    return Success;  // the object stays: work that waits may record it
}
CUresult cuLinkCreate_v2(unsigned count, int *options, void **values, CUlinkState *link) {
    BEGIN(true);
    *link = keep(new CUlinkState_st);
    (*link)->context = context_here();
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == JitErrorLogBuffer)
            (*link)->log = static_cast<char *>(values[i]);
        else if (options[i] == JitErrorLogBufferBytes)
            (*link)->log_bytes = reinterpret_cast<size_t>(values[i]);
    }
    state().links.insert(*link);
    return Success;
}
CUresult cuLinkAddData_v2(CUlinkState link, int type, void *data, size_t bytes, const char *,
                          unsigned, int *, void **) {
    BEGIN(true);
    std::string text(static_cast<const char *>(data), bytes);
    if (type != input_ptx || text.empty() || text.back() != '\0')
        return InvalidValue;
    if (text.find("syntax error") != std::string::npos) {
        std::snprintf(link->log, link->log_bytes,
                      "ptxas: line 1, Parsing error near 'syntax error'");
        return InvalidPTX;
    }
    link->cubin += "CUBIN " + text;
    return Success;
}
CUresult cuLinkComplete(CUlinkState link, void **cubin, size_t *bytes) {
    BEGIN(true);
    *cubin = link->cubin.data();
    *bytes = link->cubin.size();
    return Success;
}
CUresult cuLinkDestroy(CUlinkState link) {
    BEGIN(true);
    state().links.erase(link);
    return Success;
}
CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    BEGIN(true);
    const char *text = static_cast<const char *>(image);
    if (std::strncmp(text, "CUBIN ", 6) != 0)
        return InvalidImage;
    *module = keep(new CUmod_st{context_here(), text, {}});
    state().modules.insert(*module);
    return Success;
}
CUresult cuModuleUnload(CUmodule module) {
    BEGIN(true);
    if (!state().modules.erase(module))
        note_misuse("a dead module");
    return Success;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    BEGIN(true);
    if (module->image.find(std::string(".entry ") + name) == std::string::npos)
        return NotFound;
    module->functions.push_back(std::make_unique<CUfunc_st>(CUfunc_st{name, module}));
    *function = module->functions.back().get();
    return Success;
}
CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction) {
    BEGIN(true);
    if (attribute != FunctionMaxThreadsPerBlock)
        return InvalidValue;
    *value = 512;
    return Success;
}
CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
    BEGIN(true);
    if (attribute != FunctionMaxDynamicShared || value > 99 << 10)
        return InvalidValue;
    function->dynamic_limit = value;
    return Success;
}
CUresult cuLaunchKernel(CUfunction function, unsigned bx, unsigned by, unsigned bz, unsigned tx,
                        unsigned ty, unsigned tz, unsigned shared_bytes, CUstream stream,
                        void **params, void **extra) {
    BEGIN(true);
    Launch launch;
    const KernelNode kernel{function, {bx, by, bz}, {tx, ty, tz}, shared_bytes, params, extra};
    const CUresult taken = check_launch(kernel, &launch);
    return taken == Success ? enqueue_launch(function, launch, stream) : taken;
}
CUresult cuStreamIsCapturing(CUstream stream, int *status) {
    BEGIN(true);
    if (stream && !stream_of(stream))
        return 400;
    *status = stream && stream->captured;
    return Success;
}
CUresult cuGraphCreate(CUgraph *graph, unsigned flags) {
    BEGIN(true);
    if (flags != 0)
        return InvalidValue;
    *graph = keep(new CUgraph_st{context_here(), {}});
    state().graphs.insert(*graph);
    return Success;
}
CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                              size_t count, const KernelNode *kernel) {
    BEGIN(true);
    if (!state().graphs.count(graph)) {
        note_misuse("a node in a dead graph");
        return InvalidValue;
    }
    if (count != (graph->nodes.empty() ? 0 : 1) || (count && *before != graph->nodes.back())) {
        note_misuse("the nodes of a graph are not one after the other");
        return InvalidValue;
    }
    Launch launch;
    if (CUresult taken = check_launch(*kernel, &launch); taken != Success)
        return taken;
    *node = keep(new CUgraphNode_st{graph, kernel->function, launch});
    graph->nodes.push_back(*node);
    return Success;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
    BEGIN(true);
    if (!state().graphs.count(graph) || flags != 0)
        return InvalidValue;
    *exec = keep(new CUgraphExec_st{context_here(), graph, {}});
    for (CUgraphNode node : graph->nodes)
        (*exec)->nodes.push_back(*node);
    state().execs.insert(*exec);
    return Success;
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const KernelNode *kernel) {
    BEGIN(true);
    if (!state().execs.count(exec) || !state().graphs.count(node->graph)) {
        note_misuse("parameters of a dead graph");
        return InvalidValue;
    }
    const auto &nodes = exec->graph->nodes;
    const auto found = std::find(nodes.begin(), nodes.end(), node);
    if (found == nodes.end())
        return InvalidValue;
    CUgraphNode_st changed = *node;
    changed.function = kernel->function;
    if (CUresult taken = check_launch(*kernel, &changed.launch); taken != Success)
        return taken;
    exec->nodes[static_cast<size_t>(found - nodes.begin())] = changed;
    return Success;
}
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    BEGIN(true);
    if (!state().execs.count(exec) || exec->context != context_here()) {
        note_misuse("a launch of a dead graph, or of another context");
        return InvalidValue;
    }
    if (stream && stream->captured)
        note_misuse("a graph in a captured stream");
    for (const CUgraphNode_st &node : exec->nodes)
        if (CUresult r = enqueue_launch(node.function, node.launch, stream); r != Success)
            return r;
    return Success;
}
CUresult cuGraphExecDestroy(CUgraphExec exec) {
    BEGIN(true);
    if (!state().execs.erase(exec))
        note_misuse("a dead executable graph");
    return Success;
}
CUresult cuGraphDestroy(CUgraph graph) {
    BEGIN(true);
    if (!state().graphs.erase(graph))
        note_misuse("a dead graph");
    return Success;
}
CUresult cuGetErrorName(CUresult code, const char **name) {
    static const std::map<int, const char *> names = {
        {1, "CUDA_ERROR_INVALID_VALUE"},
        {2, "CUDA_ERROR_OUT_OF_MEMORY"},
        {3, "CUDA_ERROR_NOT_INITIALIZED"},
        {100, "CUDA_ERROR_NO_DEVICE"},
        {101, "CUDA_ERROR_INVALID_DEVICE"},
        {200, "CUDA_ERROR_INVALID_IMAGE"},
        {218, "CUDA_ERROR_INVALID_PTX"},
        {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
        {500, "CUDA_ERROR_NOT_FOUND"},
        {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
        {999, "CUDA_ERROR_UNKNOWN"},
    };
    auto found = names.find(code);
    if (found == names.end())
        return InvalidValue;
    *name = found->second;
    return Success;
}
CUresult cuGetErrorString(CUresult code, const char **text) {
    const char *name = nullptr;
    if (cuGetErrorName(code, &name) != Success)
        return InvalidValue;
    *text = "text of the error";
    return Success;
}

}  // extern "C"
// NOLINTEND
