#pragma once
// end_lifetimes: the end of an allocation's lifetime.

#include "ir/stmt_node.h"

namespace Pipe::lower {

/// Inserts `free f` after the last statement that uses the memory of f, unless that is the end of
/// its allocation's scope, so that later allocations can reuse it. (In a chain of stages that are
/// stored as a whole, only two are in memory at a time.)
///
///     allocate f { allocate g { S(f, g); T(g) } }  ->  allocate f { allocate g { S(f, g); free f; T(g) } }
///
/// If a loop or another compound statement uses f, the whole statement counts as the use.
ir::Stmt end_lifetimes(const ir::Stmt &s);

}  // namespace Pipe::lower
