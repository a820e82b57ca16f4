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
//  1. Outermost loops first: find the iterations in which all conditions that the loop decides come out
//     the usual way (steady_state.h), for all iterations of the loops inside and all lanes. Nothing to do
//     where there are none, or where they cost next to nothing per iteration of the innermost loops.
//  2. A small innermost serial loop becomes three: prologue, steady state, epilogue; the first or last is
//     left out where nothing asks for it, and then the loop may be large, too. Other loops get a test and two versions of what differs in
//     their bodies: that is one copy less, and keeps a parallel loop one.
//  3. The steady version is partitioned further inside. In the other version, which serves the edges
//     (and thin images: there it is all there is), only innermost loops are.
//  4. A loop with always_partition() of which no copy was partitioned is a CompileError.
//  5. Bodies above a size limit are left alone. `likely` has done its duty and is removed.

#include "graph/graph.h"
#include "ir/stmt_node.h"

namespace Pipe::lower {

/// `graph` may be null; it is used for messages.
ir::Stmt partition_loops(const ir::Stmt &s, const graph::Graph *graph = nullptr);

}  // namespace Pipe::lower
