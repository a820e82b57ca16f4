#pragma once
// skip_stages: what is read only under a condition is computed only where the condition may hold.
//
//     realize f                                        let f.used = p
//       produce f { F }                           =>   realize f
//       for x                                            produce f { if f.used { F } }
//         provide g(x) = select(p, f(x), 0)              for x ...
//
// Precondition: built, with storage not flattened. One walk from the inside out finds, for each
// Func whose storage lies inside, when it is read:
//
//  1. The arms of a select, and what stands under an `if`, are read where its condition holds. A
//     value that says where to load, or is given to a C function, is read whatever a select
//     around makes of it.
//  2. What is read in the production of f is read where f.used holds.
//  3. At the Func's storage the condition is weakened to what is known there: no variables of inner
//     loops, no Funcs that are still to be computed. So it is the same for all that its storage lives
//     through, and a window that slides is computed in all steps or in none.
//  4. Where that leaves something that costs less than the Func, the Func is skipped by it. A memoized
//     Func that is skipped makes no entry in the cache.
//
// Never skipped: outputs, async Funcs, what lies inside of a vectorized loop, and
// Funcs in whose loops another one is computed that lives longer than they.

#include "graph/graph.h"
#include "ir/stmt_node.h"
#include <pipe/schedule.h>

namespace Pipe::lower {

ir::Stmt skip_stages(const ir::Stmt &s, const graph::Graph &graph,
                     const schedules::Schedule &schedule);

}  // namespace Pipe::lower
