#pragma once
// How many iterations a loop can have.

#include <cstdint>
#include <optional>

#include <pipe/expr.h>

namespace Pipe::lower {

/// The smallest constant that is known to be at least the extent, whatever the values of the variables:
/// of min(n, x*8 + 8) - x*8 it is 8.
std::optional<int64_t> most_iterations(const Expr &extent);

}  // namespace Pipe::lower
