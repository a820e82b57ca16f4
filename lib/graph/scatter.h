#pragma once
// scatter() and gather(): several stores by one update definition.

#include "ir/expr_node.h"

namespace Pipe::graph {

struct Stage;

/// How many stores the definition makes at each point.
size_t count_stores(const Stage &stage);

/// The expression as the n-th store means it: scatters and gathers are replaced by their n-th
/// argument.
Expr nth_of_scatter(const Expr &e, size_t n);

}  // namespace Pipe::graph
