#pragma once
// Constant upper bounds of linear expressions: how large can a region get?

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "ir/linear.h"

namespace Pipe::region {

/// What is known about variables.
struct Variables {
    /// Extent of a loop that starts at 0, if that is a constant; nothing for any other variable.
    std::function<std::optional<int64_t>(const std::string &)> extent_of;
    /// The value of a let, and how many were made before it; undefined for any other variable.
    std::function<std::pair<Expr, int>(const std::string &)> let_of;
};

/// Largest value that the sum can take, if a constant bounds it: lets are replaced by their values, the
/// latest first; a min() by its better operand, a max() or select() by both, differences of quotients by
/// the quotient of the difference, and loop variables by the ends of their ranges. Takes a bounded number
/// of steps.
std::optional<int64_t> upper_bound(const ir::Linear &sum, const Variables &variables);

}  // namespace Pipe::region
