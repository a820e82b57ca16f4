#pragma once
// Joint search of inlining and grouping: the cheapest set of plans.

#include <vector>

#include "autoschedule/grouping.h"
#include "autoschedule/machine.h"
#include "autoschedule/plan.h"
#include "autoschedule/stage_graph.h"
#include <pipe/autoschedule.h>

namespace Pipe::autoschedule {

struct SearchResult {
    StageGraph graph;         ///< after inlining
    std::vector<Plan> plans;  ///< producers first
    double cost = 0;
    long evaluated = 0;
    bool complete = true;
};

/// The Funcs that are not inlined, and what they read of each other. \param nodes receives the node
/// of the stage graph for each node of the DAG
Dag dag_of(const StageGraph &graph, std::vector<int> &nodes);

/// Candidate groups that a search may evaluate: a count instead of a clock, so that the result does
/// not depend on the load of the machine.
long groups_within(const AutoscheduleOptions &options, const Machine &machine);

/// \param graph after inlining the Funcs that the user inlined
SearchResult search(const StageGraph &graph, const Machine &machine,
                    const AutoscheduleOptions &options);

}  // namespace Pipe::autoschedule
