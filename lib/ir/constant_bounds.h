#pragma once
// The constant interval in which an integer expression lies.

#include "ir/facts.h"

namespace Pipe::ir {

/// An interval that holds the value of every lane of `e` wherever the facts hold. Not always the
/// smallest one: the effort is bounded, whatever the size of e. `e` must be of an integer type (or
/// bool).
ConstantInterval constant_bounds(const Expr &e, const Facts &facts = {});

/// The same for a sum. Sees through min and max: x - min(x, y) >= 0.
ConstantInterval constant_bounds(const Linear &sum, const Facts &facts = {});

/// Whether `e` stays far from the ends of its type, as what loop variables and sizes add up to does: sums
/// of such numbers may be written in any other way. What memory, callers or C functions say may be
/// any number of its type.
bool is_index(const Expr &e);

}  // namespace Pipe::ir
