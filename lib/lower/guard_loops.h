#pragma once
// guard_loops: a loop whose statements are guarded by loop-invariant conditions is skipped if none
// of them can be true, and runs without them if all are true.
//
//     for k in [0, n) {                            if y <= x0 {
//       for x in [x0, x0 + 16) vectorized {          for k in [0, n) { ...without the condition... }
//         if y <= x {                       =>     } else if y <= x0 + 15 {
//           f[x] = f[x] + a[k]                       for k in [0, n) { ...as it was... }
//         }                                        }
//       }
//     }
//
// This occurs in triangular matrix products: half of the blocks are skipped, and few lie across the
// diagonal.
//
//  1. Inner loops first. If a condition depends on an inner loop's variable, it is replaced by a
//     condition that is true if it is true for one value of the variable, and by one that is true
//     only if it is true for all.
//  2. Only conditions that involve at least two outer loops: those of a single loop are handled by
//     partition_loops.
//  3. Conditions that read memory, contain calls or are large are assumed to be possibly true.

#include "ir/stmt_node.h"

namespace Pipe::lower {

ir::Stmt guard_loops(const ir::Stmt &s);

}  // namespace Pipe::lower
