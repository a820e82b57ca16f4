#pragma once
// share_strided_loads: merges strided loads of adjacent elements into one dense load, and slices of
// it.
//
//     out[..] = in[ramp(b, 3, 8)] + in[ramp(b + 2, 3, 8)]
//
//     =>  let in.span0 = in[ramp(b, 1, 24)]
//         out[..] = slice(in.span0, 0, 3, 8) + slice(in.span0, 2, 3, 8)
//
// Expects vectors (vectorize_loops), indices in simplified form.
//
//  1. In straight-line statements (blocks, lets, stores), the loads of buffers that none of them
//     stores to; in each statement by itself, the other loads. Not loads under a condition.
//  2. Loads with stride k whose bases differ by less than k share a load that spans from the first
//     element to the last one needed. This requires at least two loads for k up to 4, and k/2 for
//     larger k.

#include "ir/stmt_node.h"

namespace Pipe::lower {

ir::Stmt share_strided_loads(const ir::Stmt &s);

}  // namespace Pipe::lower
