#pragma once
// Constant bounds of integer expressions.

#include "ir/facts.h"

namespace Pipe::ir {

/// An interval that contains the value of every lane of `e` whenever the facts hold. Not always the
/// smallest one, because the effort is bounded, whatever the size of e. `e` must have an integer
/// type (or bool).
ConstantInterval constant_bounds(const Expr &e, const Facts &facts = {});

/// The same for a linear sum. Handles min and max: x - min(x, y) >= 0.
ConstantInterval constant_bounds(const Linear &sum, const Facts &facts = {});

/// What indices are taken to stay below: 1/256 of the largest number of int32 or int64.
inline int64_t usual_limit(Type type) {
    return type.max_int() >> 8;
}

/// Whether `e` stays far from the limits of its type, as expressions of loop variables and sizes
/// do: sums of such numbers may be reassociated. Values from memory, callers or C functions, and of
/// operations that saturate or wrap, may be any number of their type; so may what a constant
/// beyond usual_limit() is an operand of, as in select(found, x, INT_MAX).
bool is_index(const Expr &e);

}  // namespace Pipe::ir
