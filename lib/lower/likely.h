#pragma once
// likely(): the tag that says which arm of a select, min or max is the usual one.

#include "ir/expr_node.h"
#include "ir/stmt_node.h"

namespace Pipe::lower {

/// Whether e has the tag, which may stand below a broadcast or cast.
bool is_likely(const Expr &e);

/// What stands in the place of `before`, with its tag: where nothing was decided here, a loop further in
/// may decide.
Expr tagged_as(const Expr &before, const Expr &now);

ir::Stmt without_likely(const ir::Stmt &s);

}  // namespace Pipe::lower
