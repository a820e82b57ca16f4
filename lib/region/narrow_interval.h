#pragma once
// Intervals of types whose arithmetic may wrap: narrow and unsigned ones, for which mostly
// constants are tracked.

#include <cstdint>

#include "region/interval.h"

namespace Pipe::region {

/// The range of the type, if it is useful.
Interval type_range(Type t);

/// The interval of e, an operation of two operands in a and b: exact for constants that do not
/// wrap, otherwise the whole type.
Interval narrow_arithmetic(const Expr &e, const Interval &a, const Interval &b);

inline constexpr int64_t unknown_value = INT64_MAX;

/// The maximum of an unsigned type in the interval, if it is a number.
int64_t largest_value(Type t, const Interval &i);

}  // namespace Pipe::region
