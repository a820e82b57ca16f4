#pragma once
// hoist_calls: hoists calls of pure C functions with loop-invariant arguments out of loops.
//
//     for y in [0, h) {                          let hoisted.slow.0 = if_then_else(h > 0 && .., slow(p), 0)
//       for x in [0, w) {                  =>    for y in [0, h) {
//         g[x + y*w] = slow(p) * x                 for x in [0, w) {
//       }                                            g[x + y*w] = hoisted.slow.0 * x
//     }                                            }
//                                                }
//
// (LLVM does this only for the innermost loop: it must not make a call that an empty loop would not
// have made.)
//
// Precondition: flattened and vectorized. From the innermost loop out:
//
//  1. Considers what each iteration of the body evaluates: not statements under an `if`, arms of
//     if_then_else, or code that runs only if a memoized Func is not in the cache.
//  2. A call moves if its arguments use no name that is bound in the body, and load from no buffer
//     that is stored to in it. Equal calls are merged.
//  3. If the loop may be empty, the call is guarded; a call that leaves several loops is also guarded
//     against inner loops being empty, if that is known before the outermost.

#include "ir/stmt_node.h"

namespace Pipe::lower {

ir::Stmt hoist_calls(const ir::Stmt &s);

}  // namespace Pipe::lower
