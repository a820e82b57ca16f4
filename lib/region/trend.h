#pragma once
// Which way an expression moves while a loop goes on.

#include <cstdint>
#include <string>

#include "ir/expr_node.h"

namespace Pipe::region {

/// BothWays: the lesser or greater of one that goes up and one that goes down. Unknown: not seen.
enum class Trend : uint8_t { Constant, Up, Down, BothWays, Unknown };

/// Where `e` goes when the variable grows; it may also stand still. Sees through sums,
/// quotients, minima and maxima, and through what follows a staircase, as the rows that an upsampling
/// reads: y / 2 - 1 + y % 2 * 2 and y / 2, the lesser of the two.
Trend trend_of(const Expr &e, const std::string &var);

}  // namespace Pipe::region
