#pragma once
// prefix_loops: running sums, minima and maxima are computed a vector at a time.
//
//     for r in [1, n) {                          if (lanes <= n - 1)
//       f[r] = f[r - 1] + g(r)            =>       allocate r.carry[1]
//     }                                              r.carry[0] = f[0]
//                                                    for r.block in [0, (n - 1) / lanes) {
//                                                      let r.prefix = prefix_sum(g(ramp(..)))
//                                                      f[ramp(..)] = r.prefix + broadcast(r.carry[0])
//                                                      r.carry[0] = r.carry[0] + (last lane of r.prefix)
//                                                    }
//                                                for r in [the rest] { f[r] = f[r - 1] + g(r) }
//
// One block waits for the one before by a single operation instead of one per element.
//
//  1. A serial loop, around nothing but a store of a scalar whose index advances by 1 or -1. The value combines
//     the element before, read once, with others by one of + min max. Of the same buffer, they read at most
//     the element that is stored.
//  2. Floats only with Target::FastMath: sums round differently in another order, and of minima and maxima of NaN
//     the order decides.
//  3. Only for types of which a vector has at least 8 lanes: fewer are not worth the shuffles. Not in kernels.
//
// Precondition: vectorized, and simplified for the last time.

#include "ir/stmt_node.h"
#include <pipe/target.h>

namespace Pipe::lower {

ir::Stmt prefix_loops(const ir::Stmt &s, const Target &target);

}  // namespace Pipe::lower
