#pragma once
// What a specialization knows.

#include "graph/graph.h"

namespace Pipe::lower {

/// The algorithm where the condition, one of Params and sizes, holds, or does not: wherever its definitions
/// ask the same, or its opposite, they have the answer.
///
///     f(x) = select(p > 1, a(x), b(x))   ->   f(x) = select(true, a(x), b(x))      where p > 1 holds
graph::Graph assume(graph::Graph graph, const Expr &condition, bool holds);

}  // namespace Pipe::lower
