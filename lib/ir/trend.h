#pragma once
// Monotonicity of expressions in a loop variable.

#include <cstdint>
#include <string>

#include "ir/expr_node.h"

namespace Pipe::ir {

/// BothWays: the min or max of an increasing and a decreasing expression. Unknown: not proven.
enum class Trend : uint8_t { Constant, Up, Down, BothWays, Unknown };

/// The trend of `e` when the variable increases; Up and Down include constant steps. Handles sums,
/// quotients, minima and maxima, and expressions that follow a staircase, as the rows read by
/// upsampling: y / 2 - 1 + y % 2 * 2 and y / 2, the smaller of the two.
Trend trend_of(const Expr &e, const std::string &var);

}  // namespace Pipe::ir
