#pragma once
// What a condition says about the variables in it.

#include <vector>

#include "region/interval.h"

namespace Pipe::region {

/// int32 and int64, whose arithmetic is taken not to overflow.
inline bool index_type(Type t) {
    return t.is_int() && t.bits() >= 32;
}

/// Expressions that are <= 0 wherever the condition holds (or does not): its comparisons of integers.
std::vector<Expr> conjuncts_of(const Expr &condition, bool holds);

/// `scope` with the variables, and what is read somewhere, narrowed to where `condition` can hold: every
/// comparison of the conjunction that is affine in one of them.
IntervalScope narrowed(const IntervalScope &scope, const Expr &condition, bool holds = true);

}  // namespace Pipe::region
