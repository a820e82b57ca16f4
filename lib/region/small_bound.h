#pragma once
// Bounds of expressions that are too large to reason about.

#include "ir/expr_node.h"

namespace Pipe::region {

/// Whether an expression has at most this many nodes, counting each as often as it is used.
bool is_small_tree(const Expr &e, int most);

/// The expression itself; if it is large, a small one that is never larger (is_min), or never smaller: its constant
/// bound, or the bounds of its operands combined. Undefined if there is none.
Expr small_bound(const Expr &e, bool is_min);

}  // namespace Pipe::region
