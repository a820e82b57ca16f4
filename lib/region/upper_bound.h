#pragma once
// Constant upper bounds of linear expressions: how large can a region get?

#include <functional>
#include <optional>
#include <string>

#include "ir/linear.h"

namespace Pipe::region {

/// Extent of a loop that starts at 0, if that is a constant; nothing for any other variable.
using ExtentOf = std::function<std::optional<int64_t>(const std::string &)>;

/// Largest value that the sum can take, if a constant bounds it: a min() is replaced by its better
/// operand, a max() or select() by both, differences of quotients by the quotient of the difference, and
/// loop variables by the ends of their ranges.
std::optional<int64_t> upper_bound(const ir::Linear &sum, const ExtentOf &extent_of);

}  // namespace Pipe::region
