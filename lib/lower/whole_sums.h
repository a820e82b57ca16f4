#pragma once
// whole_sums: separates whole blocks of sums in registers (register_sums.h) from those at an edge, which are computed row by
// row.
//
//     allocate sums[8] {                               if yo*2 + 1 < h {
//       for yi in [0, 2) unrolled {                      allocate sums[8] { ...without guards... }
//         if yo*2 + yi < h {                           } else {
//           for xi in [0, 4) vectorized                  for yi in [0, 2) {
//             sums[yi*4 + xi] = f[...]                     if yo*2 + yi < h {
//         }                                                  allocate sums[8] {
//       }                                        =>            for xi in [0, 4) vectorized  sums[xi] = f[...]
//       for k in [0, n)                                        for k in [0, n)
//         for yi in [0, 2) unrolled {                            for xi in [0, 4) vectorized  sums[xi] += ...
//           if yo*2 + yi < h { ... sums[yi*4 + xi] += ... }     ...
//         }                                                  }
//       ...                                                }
//     }                                                  }
//                                                      }
//
// Otherwise, each row would keep its test within the loops over RVars, and partition_loops would make versions of all of
// it for the edges of each loop around. The rows at an edge are compiled once, and a block that is whole is as fast in a tile
// that is not as in others.
//
//  1. Guards that are affine in the loops inside of the array are decided for the block as a whole (sum_guards.h). Others
//     (of RVars) stay where they are.
//  2. Rows: an unrolled loop that is in all statements of the array, none of which reads what another row stores. Half of
//     them are computed together where all of these are needed (sum_rows.h).
//     Where lanes have guards, the vectors of a block come first: half of them together where these are whole, else one by one:
//     without masks, with masks, or not at all. A vector with masks keeps its rows, which share what they load. But where it
//     would be computed lane by lane (x86 without masks of bytes: AVX2), all its unrolled loops are serial.
//  3. Only if the array has a serial loop of many iterations in it, or such vectors. Else a block takes little time, and what
//     it stores may be in registers, too, which rows that a loop counts are not.
//  4. Not in GPU kernels.

#include "ir/stmt_node.h"
#include <pipe/target.h>

namespace Pipe::lower {

/// Precondition: flattened; before guard_loops and unroll_loops. `target` may be null: then it has masks for all vectors.
ir::Stmt whole_sums(const ir::Stmt &s, const Target *target = nullptr);

}  // namespace Pipe::lower
