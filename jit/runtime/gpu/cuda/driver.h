#pragma once
// The CUDA driver API, loaded at first use: nothing of CUDA is needed to build or install. Declared here is what is used
// of it, as cuda.h of CUDA 11 and later has it.

#include <cstddef>
#include <cstdint>
#include <string>

namespace Pipe::runtime::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = uint64_t;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUlinkState = struct CUlinkState_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphNode = struct CUgraphNode_st *;
using CUgraphExec = struct CUgraphExec_st *;

enum Result : CUresult {
    Success = 0,
    InvalidValue = 1,
    OutOfMemory = 2,
    NotInitialized = 3,
    Deinitialized = 4,
    StubLibrary = 34,
    DeviceUnavailable = 46,
    NoDevice = 100,
    InvalidDevice = 101,
    InvalidImage = 200,
    InvalidContext = 201,
    NoBinaryForGPU = 209,
    InvalidPTX = 218,
    UnsupportedPTXVersion = 222,
    JITCompilerNotFound = 221,
    NotFound = 500,
    IllegalAddress = 700,
    LaunchOutOfResources = 701,
    LaunchTimeout = 702,
    ContextIsDestroyed = 709,
    Assert = 710,
    HardwareStackError = 714,
    IllegalInstruction = 715,
    MisalignedAddress = 716,
    InvalidAddressSpace = 717,
    InvalidPC = 718,
    LaunchFailed = 719,
    SystemNotReady = 802,
    SystemDriverMismatch = 803,
    CompatNotSupported = 804,
    EccUncorrectable = 214,
    NvlinkUncorrectable = 220,
    Contained = 226,  ///< an error of the hardware
    TensorMemoryLeak = 721,
    Unknown = 999,
};

enum DeviceAttribute : int {
    MaxThreadsPerBlock = 1,
    MaxBlockDimX = 2,
    MaxGridDimX = 5,
    CapabilityMajor = 75,
    CapabilityMinor = 76,
    MaxSharedMemoryPerBlockOptin = 97,
};
enum FunctionAttribute : int {
    FunctionMaxThreadsPerBlock = 0,
    FunctionMaxDynamicShared = 8,
};
enum JitOption : int {
    JitErrorLogBuffer = 5,
    JitErrorLogBufferBytes = 6,
};
inline constexpr int input_ptx = 1;  ///< CU_JIT_INPUT_PTX
inline constexpr unsigned stream_non_blocking = 1;
enum MemoryType : unsigned { HostMemory = 1, DeviceMemoryType = 2 };

/// CUDA_MEMCPY2D.
struct Copy2D {
    size_t source_x = 0, source_y = 0;
    unsigned source_type = 0;
    const void *source_host = nullptr;
    CUdeviceptr source_device = 0;
    void *source_array = nullptr;
    size_t source_pitch = 0;
    size_t target_x = 0, target_y = 0;
    unsigned target_type = 0;
    void *target_host = nullptr;
    CUdeviceptr target_device = 0;
    void *target_array = nullptr;
    size_t target_pitch = 0;
    size_t bytes = 0, rows = 0;
};

/// CUDA_KERNEL_NODE_PARAMS_v1: a launch, of which the driver copies the values of the parameters.
struct KernelNode {
    CUfunction function = nullptr;
    unsigned blocks[3] = {}, threads[3] = {};
    unsigned shared_bytes = 0;
    void **params = nullptr;
    void **extra = nullptr;
};
static_assert(sizeof(KernelNode) == 56 && offsetof(KernelNode, params) == 40);

// Member of Driver, name in the library, parameters.
#define PIPE_CUDA_ENTRIES(X)                                                                       \
    X(Init, cuInit, (unsigned))                                                                    \
    X(DriverGetVersion, cuDriverGetVersion, (int *))                                               \
    X(DeviceGetCount, cuDeviceGetCount, (int *))                                                   \
    X(DeviceGet, cuDeviceGet, (CUdevice *, int))                                                   \
    X(DeviceGetName, cuDeviceGetName, (char *, int, CUdevice))                                     \
    X(DeviceGetAttribute, cuDeviceGetAttribute, (int *, int, CUdevice))                            \
    X(DeviceTotalMem, cuDeviceTotalMem_v2, (size_t *, CUdevice))                                   \
    X(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))                   \
    X(DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice))                           \
    X(DevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2, (CUdevice))                               \
    X(CtxGetCurrent, cuCtxGetCurrent, (CUcontext *))                                               \
    X(CtxPushCurrent, cuCtxPushCurrent_v2, (CUcontext))                                            \
    X(CtxPopCurrent, cuCtxPopCurrent_v2, (CUcontext *))                                            \
    X(CtxGetDevice, cuCtxGetDevice, (CUdevice *))                                                  \
    X(CtxSynchronize, cuCtxSynchronize, ())                                                        \
    X(MemAlloc, cuMemAlloc_v2, (CUdeviceptr *, size_t))                                            \
    X(MemFree, cuMemFree_v2, (CUdeviceptr))                                                        \
    X(MemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream))        \
    X(MemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream))              \
    X(Memcpy2DAsync, cuMemcpy2DAsync_v2, (const Copy2D *, CUstream))                               \
    X(StreamCreate, cuStreamCreate, (CUstream *, unsigned))                                        \
    X(StreamSynchronize, cuStreamSynchronize, (CUstream))                                          \
    X(EventCreate, cuEventCreate, (CUevent *, unsigned))                                           \
    X(EventRecord, cuEventRecord, (CUevent, CUstream))                                             \
    X(EventElapsedTime, cuEventElapsedTime, (float *, CUevent, CUevent))                           \
    X(EventDestroy, cuEventDestroy_v2, (CUevent))                                                  \
    X(LinkCreate, cuLinkCreate_v2, (unsigned, int *, void **, CUlinkState *))                      \
    X(LinkAddData, cuLinkAddData_v2,                                                               \
      (CUlinkState, int, void *, size_t, const char *, unsigned, int *, void **))                  \
    X(LinkComplete, cuLinkComplete, (CUlinkState, void **, size_t *))                              \
    X(LinkDestroy, cuLinkDestroy, (CUlinkState))                                                   \
    X(ModuleLoadData, cuModuleLoadData, (CUmodule *, const void *))                                \
    X(ModuleUnload, cuModuleUnload, (CUmodule))                                                    \
    X(ModuleGetFunction, cuModuleGetFunction, (CUfunction *, CUmodule, const char *))              \
    X(FuncGetAttribute, cuFuncGetAttribute, (int *, int, CUfunction))                              \
    X(FuncSetAttribute, cuFuncSetAttribute, (CUfunction, int, int))                                \
    X(LaunchKernel, cuLaunchKernel,                                                                \
      (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, \
       void **, void **))                                                                          \
    X(GetErrorName, cuGetErrorName, (CUresult, const char **))                                     \
    X(GetErrorString, cuGetErrorString, (CUresult, const char **))

// What drivers for CUDA 11.4 and later have, too. Functions with another version (_v2) take another KernelNode.
#define PIPE_CUDA_GRAPH_ENTRIES(X)                                                                 \
    X(StreamIsCapturing, cuStreamIsCapturing, (CUstream, int *))                                   \
    X(GraphCreate, cuGraphCreate, (CUgraph *, unsigned))                                           \
    X(GraphAddKernelNode, cuGraphAddKernelNode,                                                    \
      (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const KernelNode *))                   \
    X(GraphInstantiate, cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, unsigned long long)) \
    X(GraphExecSetParams, cuGraphExecKernelNodeSetParams,                                          \
      (CUgraphExec, CUgraphNode, const KernelNode *))                                              \
    X(GraphLaunch, cuGraphLaunch, (CUgraphExec, CUstream))                                         \
    X(GraphExecDestroy, cuGraphExecDestroy, (CUgraphExec))                                         \
    X(GraphDestroy, cuGraphDestroy, (CUgraph))

/// The functions of the driver. They answer a CUresult.
class Driver {
  public:
    /// Loads and initializes the driver. RuntimeError where there is none, it is too old, or it does
    /// not start; the next call tries again.
    static const Driver &get();

#define PIPE_CUDA_MEMBER(member, name, parameters) CUresult(*member) parameters = nullptr;
    PIPE_CUDA_ENTRIES(PIPE_CUDA_MEMBER)
    PIPE_CUDA_GRAPH_ENTRIES(PIPE_CUDA_MEMBER)
#undef PIPE_CUDA_MEMBER

    int version = 0;  ///< 12040 is CUDA 12.4
    int devices = 0;  ///< number of them; at least 1
    bool has_graphs = false;

  private:
    void load();
    void start();
};

/// Whether there is a driver and a device.
bool available();

/// "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"
std::string result_text(const Driver &driver, CUresult result);

/// What a user can do about it, as sentences that begin with a space; "" where nothing is known.
std::string advice(CUresult result);

/// Whether the context is lost after it: each further call in it fails.
bool loses_context(CUresult result);

/// Throws RuntimeError where `result` is a failure: of `call`, on `where` ("NVIDIA H100 (CUDA
/// device 0)"), doing `what` ("pipeline blur, kernel blur_y"); both may be empty. `details`:
/// sentences that begin with a space.
void check(const Driver &driver, CUresult result, const char *call, const std::string &where,
           const std::string &what = "", const std::string &details = "");

}  // namespace Pipe::runtime::cuda
