#pragma once
// skip_stages: skips the computation of Funcs whose values are only read under a false condition.
//
//     realize f                                        let f.used = p
//       produce f { F }                           =>   realize f
//       for x                                            produce f { if f.used { F } }
//         provide g(x) = select(p, f(x), 0)              for x ...
//
// Precondition: built, not flattened. One walk from the inside out finds, for each Func whose
// storage lies inside, the condition under which it is read:
//
//  1. The arms of a select, and statements under an `if`, are read if its condition is true. A value
//     that determines an address, or is passed to a C function, is read regardless of enclosing
//     selects.
//  2. Reads in the production of f happen if f.used is true.
//  3. At the Func's storage, the condition is weakened to what is known there: no variables of inner
//     loops, no Funcs that are computed later. So it is constant during the lifetime of the storage,
//     and a sliding window is computed in all steps or in none.
//  4. If the remaining condition costs less than the Func, the Func is guarded by it. A memoized Func
//     that is skipped makes no cache entry.
//
// Never skipped: outputs, async Funcs, Funcs inside a vectorized loop, and Funcs in whose loops
// another Func is computed that outlives them.

#include "graph/graph.h"
#include "ir/stmt_node.h"
#include <pipe/schedule.h>

namespace Pipe::lower {

ir::Stmt skip_stages(const ir::Stmt &s, const graph::Graph &graph,
                     const schedules::Schedule &schedule);

}  // namespace Pipe::lower
