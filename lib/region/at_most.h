#pragma once
// Comparing the ends of regions.

#include "ir/expr_node.h"

namespace Pipe::region {

/// True if a <= b is seen to hold: of sums of min, max and quotients by constants, too. False means "not
/// proven".
bool at_most(const Expr &a, const Expr &b);

}  // namespace Pipe::region
