#pragma once
// interleave_stores: merges stores to all channels of interleaved elements into stores of whole
// vectors.
//
//     out[ramp(b, 2, 8)]     = u                      let out.lanes0 = interleave(u, v)
//     out[ramp(b + 1, 2, 8)] = v              =>      out[ramp(b, 1, 8)]     = slice(out.lanes0, 0, 1, 8)
//                                                     out[ramp(b + 8, 1, 8)] = slice(out.lanes0, 8, 1, 8)
//
// Expects vectors (vectorize_loops), indices in simplified form.
//
//  1. Adjacent stores to one buffer, with stride k and bases b, ..., b + k - 1, with the same lanes and
//     the same predicate, are merged. They are placed at the last of them, if each commutes with the
//     statements in between (may_swap).
//  2. The values of the k dense vectors are computed in interleaved form as long as that takes fewer
//     shuffles: an operation common to all channels is applied to the interleaved operands, and operands
//     that are the channels of another interleaved buffer become dense loads:
//
//     out[ramp(b, 2, 8)]     = in[ramp(i, 2, 8)] * g                out[ramp(b, 1, 8)]     = in[ramp(i, 1, 8)] * g
//     out[ramp(b + 1, 2, 8)] = in[ramp(i + 1, 2, 8)] * g      =>    out[ramp(b + 8, 1, 8)] = in[ramp(i + 8, 1, 8)] * g
//
//     The cost of shuffles is counted in bytes of elements, for interleaving and for splitting loads.
//  3. If the values load from the buffer, everything is computed before the first store.

#include "ir/stmt_node.h"

namespace Pipe::lower {

ir::Stmt interleave_stores(const ir::Stmt &s);

}  // namespace Pipe::lower
