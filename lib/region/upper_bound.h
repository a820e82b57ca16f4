#pragma once
// Constant upper bounds of linear expressions, for the sizes of regions.

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "ir/linear.h"

namespace Pipe::region {

/// Information about variables.
struct Variables {
    /// Extent of a loop that starts at 0, if it is constant; nothing for other variables.
    std::function<std::optional<int64_t>(const std::string &)> extent_of;
    /// The value of a let, and the number of lets before it; undefined for other variables.
    std::function<std::pair<Expr, int>(const std::string &)> let_of;
};

/// The maximum of the sum, if it is bounded by a constant: a max() or select() is replaced by both operands, a min()
/// by its better one, lets by their values, the most recent first, differences of quotients by the quotient of the
/// difference, and loop variables by the ends of their ranges. Takes a bounded number of steps.
std::optional<int64_t> upper_bound(const ir::Linear &sum, const Variables &variables);

}  // namespace Pipe::region
