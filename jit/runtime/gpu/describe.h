#pragma once
// Kernels and launches in words, for messages.

#include <string>

#include "jit/runtime/gpu_abi.h"

namespace Pipe::runtime {

/// "kernel 'blur_y' of pipeline 'blur' (120 x 68 x 1 blocks of 16 x 16 x 1 threads, 16448 bytes of
/// shared memory)"
std::string describe(const GPUModule &module, const GPULaunch &launch);

}  // namespace Pipe::runtime
