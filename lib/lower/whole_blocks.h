#pragma once
// whole_blocks: separates full blocks of a guarded unrolled loop (all guards true: unrolled without
// guards) from partial ones (a serial loop with guards).
//
//     for x in [0, w) {                         if yo*4 + 3 < h {
//       for yi in [0, 4) unrolled {               for x in [0, w) {
//         if yo*4 + yi < h {                        for yi in [0, 4) unrolled { f[x, yo*4 + yi] = ... }
//           f[x, yo*4 + yi] = ...        =>       }
//         }                                     } else {
//       }                                         for x in [0, w) {
//     }                                             for yi in [0, 4) { if yo*4 + yi < h { f[x, yo*4 + yi] = ... } }
//                                                 }
//                                               }
//
// Otherwise, each copy would keep its test, and partition_loops would make further versions of all copies. The rest,
// which runs once per edge, is compiled once instead.
//
//  1. The test stands outside of the serial loops around the block that it does not depend on. The innermost of these
//     loops that it depends on is split: it runs whole blocks first, then the rest. A guard of the vectorized loop in
//     the block counts as well, so that a partial vector is not unrolled either.
//  2. Only if the condition contains a comparison that is affine in the loop variable: it is true for all iterations if it
//     is true at one end (first or last). The innermost loop is split only if it is true from the first iteration on.
//  3. Not if the body accesses an array that is indexed by unrolled and vectorized loops only: LLVM can keep its elements
//     in registers only if all indices are constants (whole_sums.h separates those).
//  4. In the partial version, the block's loop becomes the outermost one, if all loops belong to a pure definition.
//  5. Not in GPU kernels.

#include "graph/graph.h"
#include "ir/stmt_node.h"

namespace Pipe::lower {

/// Precondition: flattened; before unroll_loops. `graph` may be null: then no loops are interchanged.
ir::Stmt whole_blocks(const ir::Stmt &s, const graph::Graph *graph = nullptr);

}  // namespace Pipe::lower
