#include "autoschedule/gpu/gpu.h"

namespace Pipe::autoschedule {

namespace {

// From NVIDIA's data sheets and the CUDA C++ Programming Guide, table of compute capabilities; L2 bandwidths are measured
// ones as published, kernels of a CUDA graph, from one to the next, as on an H200.
const GPU h200{"H200", 132,  1.75, 128, 2048, 32, 65536, 228 << 10, 227 << 10, int64_t{50} << 20,
               4800,   5600, 2000};
const GPU l4{"L4", 58,   2.04, 128, 1536, 24, 65536, 100 << 10, 99 << 10, int64_t{48} << 20,
             300,  2000, 2000};
const GPU a10{"A10", 72,   1.69, 128, 1536, 16, 65536, 100 << 10, 99 << 10, int64_t{6} << 20,
              600,   2000, 2000};
const GPU a100{"A100", 108,  1.41, 64, 2048, 32, 65536, 164 << 10, 163 << 10, int64_t{40} << 20,
               1555,   4500, 2000};
const GPU t4{"T4", 40,   1.59, 64, 1024, 16, 65536, 64 << 10, 64 << 10, int64_t{4} << 20,
             300,  1200, 2000};

}  // namespace

std::optional<GPU> gpu_of(const Target &target) {
    if (!target.has_cuda())
        return std::nullopt;
    if (target.has_feature(Target::CUDACapability90))
        return h200;
    if (target.has_feature(Target::CUDACapability89))
        return l4;
    if (target.has_feature(Target::CUDACapability86))
        return a10;
    if (target.has_feature(Target::CUDACapability75) &&
        !target.has_feature(Target::CUDACapability80))
        return t4;
    return a100;
}

}  // namespace Pipe::autoschedule
