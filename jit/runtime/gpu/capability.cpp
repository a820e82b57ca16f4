#include "jit/runtime/gpu/capability.h"

#include "jit/runtime/gpu/cuda/cuda_device.h"
#include "support/error.h"
#include <pipe/error.h>

namespace Pipe::runtime {

Target with_capability_of_gpu(const Target &target) {
    struct Capability {
        int number;
        Target::Feature feature;
    };
    constexpr Capability table[] = {{90, Target::CUDACapability90},
                                    {89, Target::CUDACapability89},
                                    {86, Target::CUDACapability86},
                                    {80, Target::CUDACapability80},
                                    {75, Target::CUDACapability75}};
    if (!target.has_feature(Target::CUDA))
        return target;
    for (int f = Target::CUDACapability30; f <= Target::CUDACapability90; f++)
        if (target.has_feature(static_cast<Target::Feature>(f)))
            return target;
    int number = 0;
    try {
        support::SuppressErrorReporting quiet;
        number = cuda::device_of(nullptr).capability();
    } catch (const RuntimeError &) {
        return target;  // the run reports it
    }
    for (const Capability &c : table)
        if (number >= c.number)
            return target.with_feature(c.feature);
    return target;
}

}  // namespace Pipe::runtime
