#pragma once
// Checks stages that share loops (compute_with).

#include <functional>

#include "graph/graph.h"

namespace Pipe::graph {

/// CompileError if stages that share loops depend on each other, directly or through others.
void check_independence(const Graph &graph, const schedules::Schedule &schedule);

/// CompileError if stages that share loops are computed at different levels, have different numbers of
/// outer loops, or are inlined or memoized; if compute_with directives form a cycle; or if a later
/// definition of a Func could run in shared loops before an earlier one has computed what it reads.
/// `same_level`: whether both Funcs are computed inside the same loops.
void check_sharing(const Graph &graph, const schedules::Schedule &schedule,
                   const std::function<bool(FuncId, FuncId)> &same_level);

}  // namespace Pipe::graph
