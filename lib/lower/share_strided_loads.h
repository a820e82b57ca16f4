#pragma once
// share_strided_loads: merges strided loads of adjacent elements into dense loads, and slices of them.
//
//     out[..] = in[ramp(b, 3, 8)] + in[ramp(b + 2, 3, 8)]
//
//     =>  let in.span0 = in[ramp(b, 1, 24)]
//         out[..] = slice(in.span0, 0, 3, 8) + slice(in.span0, 2, 3, 8)
//
//     out[i] = in[ramp(b, s, 8)], out[j] = in[ramp(b + 1, s, 8)], ... in[ramp(b + 3, s, 8)]
//
//     =>  let in.columns0 = interleave(in[ramp(b, 1, 4)], in[ramp(b + s, 1, 4)], ... in[ramp(b + s*7, 1, 4)])
//         out[i] = slice(in.columns0, 0, 1, 8), out[j] = slice(in.columns0, 8, 1, 8), ...
//
//     out[..] = in[i] + in[i + broadcast(1, 8)]
//
//     =>  let in.pairs0 = in[interleave(i, i + broadcast(1, 8))]
//         out[..] = slice(in.pairs0, 0, 2, 8) + slice(in.pairs0, 1, 2, 8)
//
// Expects vectors (vectorize_loops), indices in simplified form.
//
//  1. In straight-line statements (blocks, lets, stores), the loads of buffers that none of them
//     stores to; in each statement by itself, the other loads. Not loads under a condition.
//  2. Loads with stride k whose bases differ by less than k share a load that spans from the first
//     element to the last one needed. This requires at least two loads for k up to 4, and k/2 for
//     larger k.
//  3. Loads with another stride, also one that is not constant, are columns: of at least 4 that are adjacent, the
//     rows are loaded and transposed.
//  4. Loads of elements of up to 4 bytes at any places, of which others lie one element further, as those of linear
//     interpolation do: each lane loads both elements by one access of twice the size.

#include "ir/stmt_node.h"

namespace Pipe::lower {

ir::Stmt share_strided_loads(const ir::Stmt &s);

}  // namespace Pipe::lower
