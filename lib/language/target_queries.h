#pragma once
// Placeholders for properties of the target, until the target is known.

#include "ir/expr_node.h"
#include <pipe/target.h>

namespace Pipe::language {

/// The constant that replaces a call of intrinsic::target_query.
Expr answer(const ir::ExprNode &query, const Target &target);

}  // namespace Pipe::language
