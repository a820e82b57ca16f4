#pragma once
// guard_loops: a loop whose statements act under conditions that it does not change is left out where
// none of them can hold, and has no conditions where all of them do.
//
//     for k in [0, n) {                            if y <= x0 {
//       for x in [x0, x0 + 16) vectorized {          for k in [0, n) { ...without the condition... }
//         if y <= x {                       =>     } else if y <= x0 + 15 {
//           f[x] = f[x] + a[k]                       for k in [0, n) { ...as it was... }
//         }                                        }
//       }
//     }
//
// Products of which a triangle is wanted are the case: of their blocks, half are left out, and few lie
// across the diagonal.
//
//  1. Inner loops first. Where a condition depends on an inner loop's variable, those take its place
//     that hold where it can hold for one of its values, and where it does for all.
//  2. Only conditions that at least two loops outside decide: those of one are partition_loops' matter.
//  3. What reads memory, calls or is long may hold anywhere.

#include "ir/stmt_node.h"

namespace Pipe::lower {

ir::Stmt guard_loops(const ir::Stmt &s);

}  // namespace Pipe::lower
