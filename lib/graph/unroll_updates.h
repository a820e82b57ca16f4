#pragma once
// unroll_updates(): a short reduction as one expression.
//
//     f(x) = 0
//     f(x) += in(x + r)        =>     f(x) = 0 + in(x) + in(x + 1) + in(x + 2)
//
// The Func is pure then: it can be inlined, slide along its consumer's loop, and each of its elements is stored once.

#include <string>
#include <vector>

#include "graph/graph.h"

namespace Pipe::graph {

/// Iterations of all updates of a Func together that unroll_updates() accepts.
constexpr int64_t most_unrolled_iterations = 256;

/// Iterations of all updates together, if each update stores the element of its pure variables, and has RVars of
/// constant ranges. Else 0, with the reason in *why.
int64_t unrolled_iterations(const FuncNode &f, std::string *why);

/// Replaces the definitions of these Funcs, and drops the schedules of their updates. CompileError where a Func has no
/// updates, unrolled_iterations() refuses it, or an update has directives.
void unroll_updates(Graph &graph, schedules::Schedule &schedule, const std::vector<FuncId> &funcs);

}  // namespace Pipe::graph
