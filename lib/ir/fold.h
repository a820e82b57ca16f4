#pragma once
// Constant folding with the exact semantics of expr_node.h.

#include "ir/expr_node.h"

namespace Pipe::ir {

/// The result of `a op b` for two scalar constants; undefined if they are not constants, or the
/// operation has no defined result (overflow of int32).
Expr fold_binary(Op op, const Expr &a, const Expr &b);

/// The result of casting a scalar constant; undefined as above.
Expr fold_cast(Type type, const Expr &a);

/// Shifts, bitwise operations, abs, absd and integer operations of scalar constants; undefined as
/// above.
Expr fold_intrinsic(const Expr &call);

/// A scalar number, or a broadcast of one.
bool is_constant(const Expr &e);

}  // namespace Pipe::ir
