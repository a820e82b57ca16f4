#pragma once
// What generated code, the run time and the emulator agree on for GPUs. Plain data: no LLVM type, no CUDA type, no C++
// object.
//
// `site` is an index into the module's sites. Whether a launch is by CUDA or by the emulator is a matter of
// GPUKernel::emulated: null for CUDA.

#include <algorithm>
#include <cstdint>

#include "jit/runtime/abi.h"

namespace Pipe::runtime {

/// How a buffer is accessed: bits.
enum DeviceAccess : int32_t {
    DeviceRead = 1,
    DeviceWrite = 2,
    DeviceOverwrite = 4,  ///< with DeviceWrite: every element that is read later is written first
    DeviceNarrow = 8,     ///< by kernels whose indices have 32 bits
};

/// Kernels with indices of 32 bits add constants up to this to the address.
inline constexpr int64_t most_displacement = int64_t{1} << 20;
/// So many elements, with what lies between them, may lie on either side of the origin of a buffer that such kernels access.
inline constexpr int64_t most_narrow_elements = (int64_t{1} << 31) - most_displacement;

/// A buffer that kernels access.
struct DeviceBuffer {
    const char *name = nullptr;  ///< of the Func or image
    void *host = nullptr;        ///< the element at (min, min, ...); null: only on the device
    uint64_t device = 0;         ///< the same element on the device; 0: not allocated yet
    int64_t begin = 0,
            end = 0;  ///< bytes from that element to the lowest, and to one past the highest
    /// Which elements of [begin, end) the buffer has, where that is not all of them: copies leave the others as they are.
    const BufferArgument *shape = nullptr;
    int32_t dimensions = 0;  ///< of `shape`
    int32_t element_bytes = 1;
    int32_t host_newer = 0,
            device_newer =
                0;          ///< 1: the copy on the other side is stale. At most one of them is 1.
    void *owner = nullptr;  ///< for the run time
};

inline bool fits_narrow_indices(const DeviceBuffer &b) {
    return std::max(-b.begin, b.end) / b.element_bytes <= most_narrow_elements;
}

/// An access or a barrier in the source of a kernel, for reports of the emulator.
struct GPUSite {
    enum Kind : int32_t { Load, Store, Atomic, Barrier };
    enum Memory : int32_t { Global, Shared, Private };
    const char *buffer = nullptr;  ///< the Func or image; of a barrier null
    int32_t kind = Load, memory = Global;
    int32_t element_bytes = 0;  ///< of `buffer`: an access to a vector has several elements
};

struct EmulatedThread {
    int32_t thread[3] = {}, block[3] = {};
    void *shared = nullptr;    ///< the shared memory of the block: GPULaunch::shared_bytes
    void *emulator = nullptr;  ///< for the emulator
};
/// The body of a kernel for the emulator: runs once per thread of each block.
using EmulatedKernel = void(EmulatedThread *thread, void *const *params);

struct GPUKernel {
    const char *name = nullptr;          ///< of the entry in the PTX; in messages
    EmulatedKernel *emulated = nullptr;  ///< null for CUDA
    /// Shared memory that the PTX declares itself. GPULaunch::shared_bytes counts it, too.
    int64_t static_shared_bytes = 0;
};

/// The kernels of a program; a constant of the object, but for `state`.
struct GPUModule {
    const char *name = nullptr;  ///< of the pipeline
    const char *ptx = nullptr;   ///< null for the emulator
    int64_t ptx_bytes = 0;
    const GPUKernel *kernels = nullptr;
    int32_t kernel_count = 0, site_count = 0;
    const GPUSite *sites = nullptr;  ///< of the emulator
    void *state = nullptr;           ///< for the run time: null at first
};

struct GPULaunch {
    int32_t kernel = 0;                                     ///< index into GPUModule::kernels
    int32_t blocks[3] = {1, 1, 1}, threads[3] = {1, 1, 1};  ///< x, y, z
    int64_t shared_bytes = 0;                               ///< per block
    int32_t params = 0, param_bytes = 0;                    ///< how many, and bytes of their block
};

extern "C" {

// What host code calls (jit/runtime/gpu). The result is 0, or the code of a failure whose message is in the context.

/// The storage of a Func that kernels access: `name`, `host`, `begin`, `end` and `element_bytes` are filled in, the rest is
/// 0. Allocates on the device.
int32_t pipe_device_open(Context *context, DeviceBuffer *buffer);
/// Frees the device memory. What an error return leaves open, the run time closes.
void pipe_device_close(Context *context, DeviceBuffer *buffer);
/// Before a launch that accesses the buffer (DeviceAccess). Allocates on the device where `device` is 0; copies from the
/// host what is newer there, unless the access overwrites everything; notes that the device has the newer elements where
/// the access writes.
int32_t pipe_device_use(Context *context, DeviceBuffer *buffer, int32_t access);
/// The same for an access by code of the host.
int32_t pipe_host_use(Context *context, DeviceBuffer *buffer, int32_t access);
/// Enqueues a kernel. params[i] is the address of the i-th parameter's value (as of cuLaunchKernel). The values are in
/// one block of memory, which begins with the first of them; bytes between them are the same in each launch.
int32_t pipe_launch(Context *context, GPUModule *module, const GPULaunch *launch,
                    void *const *params);
/// Before a loop of the host: kernels that were enqueued begin now, if the run time has them wait for others.
int32_t pipe_device_submit(Context *context);

// What the body of a kernel for the emulator (EmulatedKernel) calls (jit/runtime/gpu/emulator). Code without checks has
// no calls of pipe_emulator_access, and no sites but those of barriers.

/// Waits for all threads of the block. Each must get here: a thread that has ended, or that waits at another site, is a
/// fault, which is reported; the others go on.
void pipe_emulator_barrier(EmulatedThread *thread, int32_t site);
/// Before each access. `array`, `array_bytes`: the array that is accessed, where it is shared or the thread's own
/// memory; null for global memory, where the emulator knows the allocations. An access outside of its array does not
/// return: the block ends there. All accesses of one site and launch are to one allocation. One instruction may make
/// several calls, one after the other. No bytes: nothing is accessed.
void pipe_emulator_access(EmulatedThread *thread, int32_t site, const void *address, int32_t bytes,
                          const void *array, int64_t array_bytes);

}  // extern "C"

/// The name of the GPUModule in the object.
inline constexpr const char *gpu_module_symbol = "pipe_gpu_module";

}  // namespace Pipe::runtime
