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
//  1. Guards that are affine in the loops inside of the array are decided for the block as a whole. Others (of RVars)
//     stay where they are.
//  2. Rows: an unrolled loop that is in all statements of the array, none of which reads what another row stores. Half of
//     them are computed together where all of these are needed. A block of which lanes are masked stays as it is: rows do not
//     share what they load. But where a vector would be computed lane by lane if only some of its lanes are needed (x86
//     without masks of bytes: AVX2), all unrolled loops at the edge are serial.
//  3. Only if the array has a serial loop of many iterations in it, or such vectors. Else a block takes little time, and what
//     it stores may be in registers, too, which rows that a loop counts are not.
//  4. Not in GPU kernels.

#include "ir/stmt_node.h"
#include <pipe/target.h>

namespace Pipe::lower {

/// Precondition: flattened; before guard_loops and unroll_loops. `target` may be null: then it has masks for all vectors.
ir::Stmt whole_sums(const ir::Stmt &s, const Target *target = nullptr);

}  // namespace Pipe::lower
