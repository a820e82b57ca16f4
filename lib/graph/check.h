#pragma once
// Legality of directives.

#include "graph/graph.h"

namespace Pipe::graph {

/// `inlined` is the result of inline_funcs with this schedule. CompileError, with the Func, the
/// loop, the existing loops, the line of the definition and what to do, if
///  1. a level names a loop that does not exist, or a Func that is inlined;
///  2. compute_at names a loop that does not enclose all uses;
///  3. the store level is inside the compute level, or given for a Func that is inlined;
///  4. an output is computed inside another Func;
///  5. the loops are not the result of the transforms; a factor is below 1;
///  6. compute_with joins stages that depend on each other, or whose outer loops differ in number,
///     or that are computed at different levels;
///  7. the output or an input of a C function is folded, its stores are traced, or it is computed
///     inside a vectorized loop;
///  8. a memoized Func is stored elsewhere than it is computed, or shares loops.
/// Races between iterations of updates are checked by poly::check_races. Several vectorized loops of
/// one stage are legal: freeze() turns all but the innermost into unrolled ones.
void check(const Graph &inlined, const schedules::Schedule &schedule);

}  // namespace Pipe::graph
