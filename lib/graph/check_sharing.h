#pragma once
// Checks stages that share loops (compute_with).

#include <functional>

#include "graph/graph.h"

namespace Pipe::graph {

/// CompileError if stages that share loops depend on each other, directly or through others.
void check_independence(const Graph &graph, const schedules::Schedule &schedule);

/// CompileError where stages that share loops are computed at different levels, have different numbers of outer loops, are inlined or memoized; where
/// stages share each other's loops in a ring; and where a Func's later definition could run in shared loops
/// before what it needs of the earlier one is there.
/// `same_level`: whether the same loops stand around the computation of both Funcs.
void check_sharing(const Graph &graph, const schedules::Schedule &schedule,
                   const std::function<bool(FuncId, FuncId)> &same_level);

}  // namespace Pipe::graph
