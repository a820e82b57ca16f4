#pragma once
// Bounds of variables implied by conditions.

#include <vector>

#include "region/interval.h"

namespace Pipe::region {

/// int32 and int64, which are assumed not to overflow.
inline bool index_type(Type t) {
    return t.is_int() && t.bits() >= 32;
}

/// Expressions that are <= 0 if the condition holds (or if it does not): its comparisons of
/// integers.
std::vector<Expr> conjuncts_of(const Expr &condition, bool holds);

/// `scope` with variables and data narrowed to the values for which `condition` can hold: applies
/// every comparison of the conjunction that is affine in one of them.
IntervalScope narrowed(const IntervalScope &scope, const Expr &condition, bool holds = true);

}  // namespace Pipe::region
