#pragma once
// Other orders of the dimensions of Funcs.

#include <string>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"

namespace Pipe::graph {

/// The dimension that each one was before: args[i] becomes args[order[i]].
using DimensionOrder = std::vector<size_t>;

/// Permutes the dimensions of Funcs, given by name, where they are defined and where they are read.
void permute_args(Graph &graph, const std::unordered_map<std::string, DimensionOrder> &orders);

}  // namespace Pipe::graph
