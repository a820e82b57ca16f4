#include "test/support/gpu_targets.h"

namespace Pipe::test {

bool has_gpu() {
    return host_supports_target_device(Target("host-cuda"));
}

std::vector<Target> gpu_targets(const std::string &features) {
    std::vector<Target> targets = {Target("host-cuda_emulator" + features)};
    if (has_gpu())
        targets.emplace_back("host-cuda" + features);
    return targets;
}

}  // namespace Pipe::test
