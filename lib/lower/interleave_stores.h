#pragma once
// Stores of all channels of interleaved elements become stores of whole vectors.
//
//     out[ramp(b, 2, 8)]     = u                      let out.lanes0 = interleave(u, v)
//     out[ramp(b + 1, 2, 8)] = v              =>      out[ramp(b, 1, 8)]     = slice(out.lanes0, 0, 1, 8)
//                                                     out[ramp(b + 8, 1, 8)] = slice(out.lanes0, 8, 1, 8)
//
// Expects vectors (vectorize_loops), indices in simplified form.
//
//  1. Stores next to each other to one buffer, with stride k and bases b, ..., b + k - 1, of the same lanes
//     and under the same predicate, belong together. They are done where the last of them stands, if each
//     may be swapped with what lies between (may_swap).
//  2. What is stored to k dense vectors is computed in them as far as that takes fewer shuffles:
//     an operation that all channels have in common is applied to the interleaved operands, and operands
//     that are the channels of another interleaved buffer are dense loads:
//
//     out[ramp(b, 2, 8)]     = in[ramp(i, 2, 8)] * g                out[ramp(b, 1, 8)]     = in[ramp(i, 1, 8)] * g
//     out[ramp(b + 1, 2, 8)] = in[ramp(i + 1, 2, 8)] * g      =>    out[ramp(b + 8, 1, 8)] = in[ramp(i + 8, 1, 8)] * g
//
//     Shuffles are counted in bytes of an element, for interleaving and for taking loads apart.
//  3. Everything is computed before the first store where the values load from the buffer.

#include "ir/stmt_node.h"

namespace Pipe::lower {

ir::Stmt interleave_stores(const ir::Stmt &s);

}  // namespace Pipe::lower
