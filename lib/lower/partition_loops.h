#pragma once
// partition_loops: separates the interior of every loop, without clamps, tests and masks.
//
//     for x in [0, n) {                        let x.begin = max(min(1, n), 0)
//       out[x] = in[max(x - 1, 0)]             let x.end = max(min(w - 1, n), x.begin)
//              + in[min(x + 1, w - 1)]   =>    for x in [0, x.begin) { ...as it was... }
//     }                                        for x in [x.begin, x.end) { out[x] = in[x - 1] + in[x + 1] }
//                                              for x in [x.end, n) { ...as it was... }
//
//     for[parallel] y in [0, n) {              let y.first = 1
//       for x ... {                            let y.last = h - 2
//         out[..] = f[max(y - 1, 0)..]   =>    for[parallel] y in [0, n) {
//       }                                        if (y.first <= y && y <= y.last) { ...without clamps... }
//     }                                          else { ...as it was... }
//                                              }
//
// Precondition: flattened; vectorized. Exact for all sizes, also empty and tiny ones.
//
//  1. Outermost loops first: find the iterations in which every condition that depends on the loop has
//     its usual outcome (steady_state.h), for all iterations of inner loops and all lanes. Loops without
//     such conditions, or where evaluating them costs little, are unchanged.
//  2. An innermost serial loop is split into prologue, steady state and epilogue, if its body is small or
//     if only one of prologue and epilogue is needed. In other loops, the statements that differ get two
//     versions selected by a test: one copy less, and a parallel loop stays one loop. The test stands in each iteration
//     of the loops around these statements, which stand once; innermost loops are versions as a whole. Loops in which a
//     version saves nothing but tests around other loops have none.
//     Where a condition chose an arm there, and neither arm is likely(), the rest is split (or gets a version) again, for
//     the iterations that take the other arm: select(x < a, .., x < b, .., ..) has three loops. At most 3 times, and
//     not where the other arm is known to be taken in a few iterations only, as at the border of an image.
//  3. The steady version is partitioned further inside. In the other version, which runs at the edges
//     (and everywhere in images too small to have an interior), only innermost loops are.
//  4. CompileError if a loop with always_partition() could not be partitioned.
//  5. Bodies above a size limit are not partitioned. Removes likely(), which no later pass uses.

#include "ir/stmt_node.h"

namespace Pipe::lower {

ir::Stmt partition_loops(const ir::Stmt &s);

}  // namespace Pipe::lower
