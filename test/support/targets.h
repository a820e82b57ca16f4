#pragma once
// Targets of less and less, as this machine can run them.

#include <vector>

#include <pipe/target.h>

namespace Pipe::testing {

/// The host, and lesser machines that it can play: other instructions for the same program.
inline std::vector<Target> runnable_targets() {
    std::vector<Target> targets{get_host_target()};
    if (targets[0].arch != Target::X86)
        return targets;
    for (auto f : {Target::AVX512_Skylake, Target::AVX2, Target::SSE41}) {
        Target less = targets.back().without_feature(f);
        if (less != targets.back())
            targets.push_back(less);
    }
    return targets;
}

}  // namespace Pipe::testing
