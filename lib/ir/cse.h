#pragma once
// Common subexpression elimination.

#include "ir/stmt_node.h"

namespace Pipe::ir {

/// Binds every value that `e` computes more than once to a let around `e`; sees through existing
/// lets. Takes time linear in the number of distinct nodes.
///
///  * Expressions as cheap as a variable stay in place: constants, variables, their casts and
///    sums with a constant. So do ramps and broadcasts, which the code generator must see.
///  * An expression that is evaluated only in an arm of an if_then_else is never moved out of it.
///  * Expressions with side effects are not moved.
Expr cse(const Expr &e);

/// The same for the values of a program. Subexpressions shared by the value and the coordinates of
/// a store are bound by a let around the store. Stores with a predicate keep everything behind the
/// predicate.
Stmt cse(const Stmt &s);

}  // namespace Pipe::ir
