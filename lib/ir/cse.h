#pragma once
// Common subexpressions become lets.

#include "ir/stmt_node.h"

namespace Pipe::ir {

/// Names every value that `e` computes more than once, wherever it is equal, by a let around `e`;
/// sees through the lets that are there already. Time linear in the number of distinct nodes,
/// however they are shared.
///
///  * What costs as much as a variable stays where it is: constants, variables, their casts and
///    sums with a constant. So do ramps and broadcasts, because the code generator wants to see them.
///  * What is computed in an arm of if_then_else only is never moved out of it.
///  * Expressions with side effects are left alone.
Expr cse(const Expr &e);

/// The same for the values of a program. What the value and the coordinates of one store share is
/// named by a let around the store. Stores with a predicate keep everything behind the predicate.
Stmt cse(const Stmt &s);

}  // namespace Pipe::ir
