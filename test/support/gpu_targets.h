#pragma once
// Where kernels are tested.

#include <string>
#include <vector>

#include <pipe/target.h>

namespace Pipe::test {

/// Whether pipelines can run on a GPU of this machine.
bool has_gpu();

/// The emulator and, where this machine has a GPU, the GPU. \param features  such as "-profile", added to each
std::vector<Target> gpu_targets(const std::string &features = "");

}  // namespace Pipe::test
