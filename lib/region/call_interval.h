#pragma once
// The intervals of calls, given those of their arguments.

#include <string>
#include <vector>

#include "region/interval.h"

namespace Pipe::region {

/// The interval of an integer operation (ir/integer_ops.h): from the ends of its arguments, or from
/// their ranges if these are constant.
Interval integer_op(const Expr &e, const std::vector<Interval> &args);

/// Whether the function is sqrt, exp or log, of any type.
bool is_rising(const std::string &function);
Interval rising(const Expr &e, const Interval &arg);

/// The interval of abs().
Interval absolute(const Expr &e, const Interval &arg);

}  // namespace Pipe::region
