#pragma once
// The device that runs kernels on the CPU.

#include "jit/gpu/device.h"

namespace Pipe::jit {

/// The one of the process.
Device &emulated_device();

}  // namespace Pipe::jit
