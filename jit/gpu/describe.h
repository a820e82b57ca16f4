#pragma once
// Kernels and launches in words, for messages.

#include <string>

#include "codegen/gpu_abi.h"

namespace Pipe::jit {

/// "kernel 'blur_y' of pipeline 'blur' (120 x 68 x 1 blocks of 16 x 16 x 1 threads, 16448 bytes of
/// shared memory)"
std::string describe(const codegen::GPUModule &module, const codegen::GPULaunch &launch);

}  // namespace Pipe::jit
