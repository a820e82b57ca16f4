#pragma once
// scatter() and gather(): several stores in one update definition.

#include "ir/expr_node.h"

namespace Pipe::graph {

struct Stage;

/// The number of stores of the definition at each point.
size_t count_stores(const Stage &stage);

/// The expression for the n-th store: scatters and gathers are replaced by their n-th argument.
Expr nth_of_scatter(const Expr &e, size_t n);

}  // namespace Pipe::graph
