#pragma once
// Applies the condition of a specialization to the algorithm.

#include "graph/graph.h"

namespace Pipe::lower {

/// The algorithm if the condition (on Params and sizes) is true, or is false: equal or opposite
/// conditions in its definitions are replaced by constants.
///
///     f(x) = select(p > 1, a(x), b(x))   ->   f(x) = select(true, a(x), b(x))      where p > 1 holds
graph::Graph assume(graph::Graph graph, const Expr &condition, bool holds);

}  // namespace Pipe::lower
