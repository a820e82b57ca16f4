#pragma once
// The kernels of a GPUModule on each device that they run on.

#include <atomic>
#include <memory>
#include <mutex>

#include "jit/runtime/gpu/cuda/cuda_device.h"

namespace Pipe::runtime::cuda {

struct LoadedFunction {
    CUfunction function = nullptr;
    std::atomic<int64_t> dynamic_limit{0};  ///< bytes; 0: the 48 KB that are allowed at first
};

/// On one device.
struct LoadedModule {
    CudaDevice *device = nullptr;
    uint64_t generation = 0;  ///< of the device
    CUmodule module = nullptr;
    std::unique_ptr<LoadedFunction[]> functions;  ///< one per kernel
    LoadedModule *next = nullptr;
    ~LoadedModule() {
        if (module)
            device->unload(module, generation);
    }
};

/// What GPUModule::state points to. A warm launch finds its function without a lock.
struct ModuleState {
    std::mutex mutex;
    std::atomic<LoadedModule *> first{nullptr};
    ~ModuleState();
};

ModuleState &state_of(GPUModule &module);

/// Links and loads it where that was not done yet. The device's context is current.
LoadedModule &loaded(GPUModule &module, CudaDevice &device);

}  // namespace Pipe::runtime::cuda
