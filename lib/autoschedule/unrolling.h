#pragma once
// Short reductions as expressions (graph/unroll_updates.h), as a choice of the search.

#include <vector>

#include "autoschedule/stage_graph.h"

namespace Pipe::autoschedule {

/// The Funcs whose updates the search may unroll: short ones without directives, in whose loops the user computes
/// nothing.
std::vector<FuncId> unrollable(const graph::Graph &graph, const schedules::Schedule &user);

/// Gives the nodes of `funcs` their form in `unrolled`, the stage graph in which all of them are unrolled; but not those that
/// resample, and none where the directives of the user then leave other choices.
void add_unrolled(StageGraph &graph, const StageGraph &unrolled, const std::vector<FuncId> &funcs);

/// Unrolls the updates of a node. To be called before anything is inlined.
void unroll(StageGraph &graph, int node);

/// The Funcs that were unrolled.
std::vector<FuncId> unrolled_funcs(const StageGraph &graph);

}  // namespace Pipe::autoschedule
