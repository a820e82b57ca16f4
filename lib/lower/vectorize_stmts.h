#pragma once
// The statements of one vectorized loop, for all lanes at once.

#include "ir/stmt_node.h"
#include <pipe/target.h>

namespace Pipe::lower {

/// `body`, which is to run for `lanes` values of the loop's variable from its min on, as vectors; code that
/// cannot be is done lane by lane. Undefined where nothing is left to do.
/// `target`: says what there are masks for; null: for all.
/// Throws CompileError where the body holds what no lane may have a copy of (tasks, memoized Funcs).
ir::Stmt vectorize_body(const ir::Stmt &loop, const ir::Stmt &body, int lanes,
                        const Target *target);

}  // namespace Pipe::lower
