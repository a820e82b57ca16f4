#pragma once
// The loops of a group's output, at which its other members are computed and stored.

#include <string>
#include <vector>

#include "autoschedule/plan.h"
#include <pipe/schedule.h>

namespace Pipe::autoschedule {

/// The dimensions of the output in the order of their loops over points, innermost first.
std::vector<int> order_of_points(const Plan &plan);

/// Where a member is: Plan::places, or what its level stands for.
Place place_of(const Plan &plan, size_t member);

/// Names of the output's loops.
struct OutputLoops {
    const Plan &plan;
    FuncId func;
    std::vector<std::string> tiles, points;  ///< per dimension; empty where there is no such loop

    /// The level just inside of the loop. In place of a loop that does not exist because it would
    /// have one iteration, it is the next loop around it.
    schedules::LoopLevel level(const OutputLoop &loop) const;
    schedules::LoopLevel innermost_tile() const;
};

}  // namespace Pipe::autoschedule
