#pragma once
// Whether a schedule may be: the legality of directives.

#include "graph/graph.h"

namespace Pipe::graph {

/// `inlined` has been through inline_funcs with this schedule. CompileError, naming the Func, the
/// loop, what there is, the line of the definition and what to do, where
///  1. a level names a loop that does not exist, or a Func that is inlined;
///  2. compute_at names a loop that does not enclose all uses;
///  3. the store level is inside the compute level, or given for a Func that is inlined;
///  4. an output is computed inside another Func;
///  5. the loops are not those that the transforms make; a factor is below 1;
///  6. two loops of a stage are vectorized;
///  7. RVars are reordered, or run in parallel or in vectors, where that could change the result;
///  8. compute_with joins stages that depend on each other, or whose outer loops differ in number,
///     or that are computed at different levels;
///  9. what a C function computes or reads is folded, its stores are traced, or it is computed
///     inside a vectorized loop.
void check(const Graph &inlined, const schedules::Schedule &schedule);

}  // namespace Pipe::graph
