#pragma once
// Comparison of the ends of regions.

#include "ir/expr_node.h"

namespace Pipe::region {

/// True if a <= b can be proven; handles sums of min, max and quotients by constants. False means
/// "not proven".
bool at_most(const Expr &a, const Expr &b);

}  // namespace Pipe::region
