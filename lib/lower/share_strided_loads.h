#pragma once
// Strided loads of neighboring elements become one dense load, and slices of it.
//
//     out[..] = in[ramp(b, 3, 8)] + in[ramp(b + 2, 3, 8)]
//
//     =>  let in.span0 = in[ramp(b, 1, 24)]
//         out[..] = slice(in.span0, 0, 3, 8) + slice(in.span0, 2, 3, 8)
//
// Expects vectors (vectorize_loops), indices in simplified form.
//
//  1. In statements that simply follow each other (blocks, lets, stores), the loads of buffers that none of them
//     stores to; in each statement by itself, the other ones. Not what is loaded under a condition.
//  2. Loads with stride k whose bases differ by less than k share a load from the first element that one of
//     them needs to the last. Two of them suffice for k up to 4, half of k for more.

#include "ir/stmt_node.h"

namespace Pipe::lower {

ir::Stmt share_strided_loads(const ir::Stmt &s);

}  // namespace Pipe::lower
