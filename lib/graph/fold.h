#pragma once
// Operations on constants, carried out when the expression is built.

#include <optional>
#include <vector>

#include "ir/expr_node.h"

namespace Pipe::graph {

/// The constant that `op` gives for two scalar constants of one type, by the semantics of
/// expr_node.h. Nothing where an operand is no constant or an int32 or int64 overflows.
std::optional<Expr> fold_binary(ir::Op op, const Expr &a, const Expr &b);

/// The constant cast to `type`; nothing where it is no scalar constant or the cast is undefined.
std::optional<Expr> fold_cast(Type type, const Expr &value);

/// The value of a maths function of a constant, by C99 name without suffix; nothing where the
/// function is not known here.
std::optional<Expr> fold_math(const char *function, const Expr &x);

bool is_scalar_constant(const Expr &e);

}  // namespace Pipe::graph
