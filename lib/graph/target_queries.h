#pragma once
// What stands for a property of the target until the target is known.

#include "ir/expr_node.h"
#include <pipe/target.h>

namespace Pipe::graph {

/// The constant in place of a call of intrinsic::target_query.
Expr answer(const ir::ExprNode &query, const Target &target);

}  // namespace Pipe::graph
