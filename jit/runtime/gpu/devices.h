#pragma once
// Which device a call runs on.

#include "jit/runtime/gpu/device.h"
#include "jit/runtime/gpu/run.h"
#include <pipe/device_interface.h>
#include <pipe/jit.h>
#include <pipe/target.h>

namespace Pipe::runtime {

/// RuntimeError where there is none.
Device &device_of(const DeviceInterface &interface, const JITUserContext *user);

/// The same for runs of code for `target`, which has CUDA or CUDAEmulator.
FindDevice device_finder(const Target &target);

/// Whether the user has said which device to use.
bool names_device(const JITUserContext *user);

/// Before the code that `module` is a part of is freed.
void unload_module(const Target &target, GPUModule &module) noexcept;

/// Gives back the memory that devices keep for later.
void release_device_memory() noexcept;

}  // namespace Pipe::runtime
