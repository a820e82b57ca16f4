#include "jit/runtime/gpu/describe.h"

#include <fmt/format.h>

namespace Pipe::runtime {

std::string describe(const GPUModule &module, const GPULaunch &launch) {
    const int32_t *b = launch.blocks, *t = launch.threads;
    return fmt::format(
        "kernel '{}' of pipeline '{}' ({} x {} x {} blocks of {} x {} x {} threads, {} "
        "bytes of shared memory)",
        module.kernels[launch.kernel].name, module.name, b[0], b[1], b[2], t[0], t[1], t[2],
        launch.shared_bytes);
}

}  // namespace Pipe::runtime
