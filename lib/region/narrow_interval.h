#pragma once
// Intervals of the types whose arithmetic may wrap: narrow and unsigned ones, of which mostly
// constants are followed.

#include <cstdint>

#include "region/interval.h"

namespace Pipe::region {

/// All values of the type, as far as that helps.
Interval type_range(Type t);

/// Of e, an operation of two operands in a and b: exact on constants that do not wrap, the whole type
/// otherwise.
Interval narrow_arithmetic(const Expr &e, const Interval &a, const Interval &b);

inline constexpr int64_t unknown_value = INT64_MAX;

/// The largest value that an unsigned type has in the interval, as far as it is a number.
int64_t largest_value(Type t, const Interval &i);

}  // namespace Pipe::region
