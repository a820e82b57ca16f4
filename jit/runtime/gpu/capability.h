#pragma once
// The compute capability of the GPU at hand, as a feature of targets.

#include <pipe/target.h>

namespace Pipe::runtime {

/// `target` with the capability of the GPU that runs use by default: of the features CUDACapability.., the largest that it
/// has. `target` itself if it has no Target::CUDA, names a capability, or there is no GPU.
Target with_capability_of_gpu(const Target &target);

}  // namespace Pipe::runtime
