#pragma once
// The Funcs of a graph in another order.

#include <vector>

#include "graph/graph.h"
#include <pipe/schedule.h>

namespace Pipe::graph {

/// \param order the old numbers of the Funcs, each once, producers before consumers
/// Expressions, levels and outputs follow. What producers and consumers there are is to be found anew:
/// connect().
void renumber(Graph &graph, schedules::Schedule &schedule, const std::vector<size_t> &order);

}  // namespace Pipe::graph
