#pragma once
// Vectorization of the statements in one vectorized loop.

#include "ir/stmt_node.h"
#include <pipe/target.h>

namespace Pipe::lower {

/// The vector form of `body` for `lanes` values of the loop's variable, starting at its min; code
/// that cannot be vectorized runs lane by lane. Undefined if nothing is left. `target`: determines
/// which masked accesses exist; null: all. Throws CompileError if the body contains statements of
/// which a lane cannot have a copy (tasks, memoized Funcs).
ir::Stmt vectorize_body(const ir::Stmt &loop, const ir::Stmt &body, int lanes,
                        const Target *target);

}  // namespace Pipe::lower
