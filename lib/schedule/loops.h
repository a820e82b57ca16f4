#pragma once
// The loops that result from a stage's transforms, replayed from its initial loops.

#include <string>
#include <vector>

#include <pipe/schedule.h>

namespace Pipe::schedules {

/// One loop after the transforms, and the original loops that it covers (partly).
struct LoopOrigin {
    std::string name;
    bool is_reduction = false;
    std::vector<std::string> roots;
};

struct Replay {
    /// The resulting loops, innermost first unless they were reordered.
    std::vector<LoopOrigin> loops;
    /// False if a fuse combines reduction loops that are not adjacent, which changes the order of
    /// their points.
    bool keeps_order = true;
    /// The first error; "" if none: a transform of a loop that does not exist, a factor below 1.
    std::string error;

    const LoopOrigin *find(const std::string &name) const;
};

/// `initial`: innermost first.
Replay replay(const std::vector<Dim> &initial, const std::vector<Transform> &transforms);

}  // namespace Pipe::schedules
