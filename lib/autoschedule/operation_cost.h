#pragma once
// How much arithmetic an expression takes.

#include <vector>

#include "ir/expr_node.h"

namespace Pipe::autoschedule {

/// Sum over the distinct nodes below `values` of instructions x bytes of their type; indices of loads
/// are left out. Divided by the bytes of a vector register it is vector instructions per element.
double arithmetic_cost(const std::vector<Expr> &values);

}  // namespace Pipe::autoschedule
