#include "jit/runtime/gpu/devices.h"

#include "jit/runtime/gpu/cuda/cuda_device.h"
#include "jit/runtime/gpu/emulator.h"
#include "support/target.h"

namespace Pipe {

bool host_supports_target_device(const Target &target) {
    return support::runs_on_this_processor(target) &&
           (!target.has_feature(Target::CUDA) || runtime::cuda::available());
}

namespace runtime {

namespace {

Device &find_emulator(const JITUserContext *) {
    return emulated_device();
}

Device &find_cuda(const JITUserContext *user) {
    return cuda::device_of(user);
}

}  // namespace

Device &device_of(const DeviceInterface &interface, const JITUserContext *user) {
    return interface.emulated ? find_emulator(user) : find_cuda(user);
}

FindDevice device_finder(const Target &target) {
    return target.has_feature(Target::CUDAEmulator) ? &find_emulator : &find_cuda;
}

bool names_device(const JITUserContext *user) {
    return user && (user->gpu_device >= 0 || user->cuda_context);
}

void unload_module(const Target &target, GPUModule &module) noexcept {
    if (target.has_feature(Target::CUDAEmulator))
        emulated_device().unload(module);
    else if (module.state)
        cuda::unload(module);
}

void release_device_memory() noexcept {
    cuda::release_kept_memory();
}

}  // namespace runtime
}  // namespace Pipe
