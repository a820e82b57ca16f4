#pragma once
// When memory is not needed any more.

#include "ir/stmt_node.h"

namespace Pipe::lower {

/// Says `free f` behind the last statement that uses the memory of f, where that is not the end of what f
/// is allocated for anyway, so that what is allocated later may take its place. (Of a chain of stages that
/// are stored as a whole, two are in memory at a time, not all.)
///
///     allocate f { allocate g { S(f, g); T(g) } }  ->  allocate f { allocate g { S(f, g); free f; T(g) } }
///
/// Of a loop, or another statement that does not simply do one thing after the other, f is used by the whole.
ir::Stmt end_lifetimes(const ir::Stmt &s);

}  // namespace Pipe::lower
