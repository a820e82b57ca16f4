#pragma once
// The intervals of calls whose arguments' intervals are known.

#include <string>
#include <vector>

#include "region/interval.h"

namespace Pipe::region {

/// Of an integer operation (ir/integer_ops.h): by the ends of its arguments, or by their ranges where these
/// are constants.
Interval integer_op(const Expr &e, const std::vector<Interval> &args);

/// Whether it is sqrt, exp or log, of any type.
bool is_rising(const std::string &function);
Interval rising(const Expr &e, const Interval &arg);

/// Of abs().
Interval absolute(const Expr &e, const Interval &arg);

}  // namespace Pipe::region
