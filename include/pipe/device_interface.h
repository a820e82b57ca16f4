#pragma once
// The kinds of devices on which Buffers can have memory.

#include <pipe/target.h>

namespace Pipe {

/// A kind of device. There are two objects of it; compare addresses.
struct DeviceInterface {
    DeviceAPI api = DeviceAPI::None;
    bool emulated = false;
};

/// NVIDIA GPUs.
inline constexpr DeviceInterface cuda_device_interface{DeviceAPI::CUDA, false};
/// The emulator of Target::CUDAEmulator, whose device memory is memory of the host.
inline constexpr DeviceInterface cuda_emulator_device_interface{DeviceAPI::CUDA, true};

/// Where code for `target` runs its kernels: the emulator if it has the feature CUDAEmulator, else
/// NVIDIA GPUs. A target without an architecture (`Target()`) means get_host_target(). RuntimeError for an
/// `api` other than CUDA and Default_GPU; `error_site` begins its message.
const DeviceInterface &device_interface_of(DeviceAPI api = DeviceAPI::Default_GPU,
                                           const Target &target = Target(),
                                           const char *error_site = nullptr);

/// The same as a pointer, under Halide's name.
inline const DeviceInterface *
get_device_interface_for_device_api(DeviceAPI api, const Target &target = Target(),
                                    const char *error_site = nullptr) {
    return &device_interface_of(api, target, error_site);
}

}  // namespace Pipe
