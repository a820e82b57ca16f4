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

}  // namespace Pipe::ir
