#pragma once
// Reorders the Funcs of a graph.

#include <vector>

#include "graph/graph.h"
#include <pipe/schedule.h>

namespace Pipe::graph {

/// \param order the old ids of the Funcs, each once, producers before consumers
/// Updates expressions, levels and outputs. Producers and consumers must be recomputed with
/// connect().
void renumber(Graph &graph, schedules::Schedule &schedule, const std::vector<size_t> &order);

}  // namespace Pipe::graph
