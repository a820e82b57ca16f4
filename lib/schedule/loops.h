#pragma once
// The loops that a stage's transforms make, replayed from the loops that it starts with.

#include <string>
#include <vector>

#include <pipe/schedule.h>

namespace Pipe::schedules {

/// One loop after the transforms, and the original loops that it runs over (part of).
struct LoopOrigin {
    std::string name;
    bool is_reduction = false;
    std::vector<std::string> roots;
};

struct Replay {
    /// The loops that are left, in an order of their own: innermost first where nothing is
    /// reordered.
    std::vector<LoopOrigin> loops;
    /// False where a fuse brings reduction loops together that are no neighbors: the order in
    /// which their points run then changes.
    bool keeps_order = true;
    /// What is wrong; "" if nothing: a transform of a loop that does not exist, a factor below 1.
    std::string error;

    const LoopOrigin *find(const std::string &name) const;
};

/// `initial`: innermost first.
Replay replay(const std::vector<Dim> &initial, const std::vector<Transform> &transforms);

}  // namespace Pipe::schedules
