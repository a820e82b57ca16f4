#pragma once
// hoist_calls: a pure C function whose arguments do not change in a loop is called once before the loop.
//
//     for y in [0, h) {                          let hoisted.slow.0 = if_then_else(h > 0 && .., slow(p), 0)
//       for x in [0, w) {                  =>    for y in [0, h) {
//         g[x + y*w] = slow(p) * x                 for x in [0, w) {
//       }                                            g[x + y*w] = hoisted.slow.0 * x
//     }                                            }
//                                                }
//
// (LLVM does this for the innermost loop alone: it may not call what an empty loop would not have called.)
//
// Precondition: flattened and vectorized. From the innermost loop out:
//
//  1. Of the body, what each iteration evaluates is looked at: neither what stands under an `if` nor in an
//     arm of if_then_else, nor what only runs where a memoized Func is not found.
//  2. A call moves where its arguments use no name that is bound in the body, and load from no buffer that
//     is stored to in it. Equal calls become one.
//  3. Where the loop may be empty, nothing is called then; nor, of a call that leaves several loops, where
//     those inside are, if that can be known before the outermost.

#include "ir/stmt_node.h"

namespace Pipe::lower {

ir::Stmt hoist_calls(const ir::Stmt &s);

}  // namespace Pipe::lower
