#pragma once
// whole_blocks: an unrolled loop whose last iterations may be missing is unrolled only where all of them run.
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
//  2. Only where the condition is a comparison that is affine in the loop's variable (or a conjunction of such and of
//     others): it holds for all iterations if it holds for the first or last.
//     The innermost loop may be split only where it holds from the first iteration on.
//  3. Not where the body accesses an array that is indexed by unrolled and vectorized loops alone: its elements become
//     registers only if all indices are constant.
//  4. In the rest, the block's loop is the outermost one where all are loops of a pure definition.
//  5. Not in kernels of GPUs.

#include "graph/graph.h"
#include "ir/stmt_node.h"

namespace Pipe::lower {

/// Precondition: flattened; before unroll_loops. `graph` may be null: then no loops are interchanged.
ir::Stmt whole_blocks(const ir::Stmt &s, const graph::Graph *graph = nullptr);

}  // namespace Pipe::lower
