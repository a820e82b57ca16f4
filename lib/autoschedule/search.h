#pragma once
// Joint search of inlining and grouping: the cheapest set of plans.

#include <vector>

#include "autoschedule/machine.h"
#include "autoschedule/plan.h"
#include "autoschedule/stage_graph.h"
#include <pipe/autoschedule.h>

namespace Pipe::autoschedule {

struct Found {
    StageGraph graph;         ///< after inlining
    std::vector<Plan> plans;  ///< producers first
    double cost = 0;
    long evaluated = 0;
    bool complete = true;
};

/// \param graph after inlining the Funcs that the user inlined
Found search(const StageGraph &graph, const Machine &machine, const AutoscheduleOptions &options);

}  // namespace Pipe::autoschedule
