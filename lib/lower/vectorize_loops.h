#pragma once
// vectorize_loops: a loop of kind Vectorized becomes straight-line code on vectors.
//
//     for[vectorized] x in [0, 8) {              if (reduce<||>(m)) ...           (only where needed)
//       if (xo*8 + x < n) {               =>     let x.mask = ramp(xo*8, 1, 8) < broadcast(n, 8)
//         out[xo*8 + x] = in[xo*8 + x] + c       out[ramp(xo*8, 1, 8) if x.mask] =
//       }                                          in[ramp(xo*8, 1, 8) if x.mask] + broadcast(c, 8)
//     }
//
// Precondition: flattened; the extent is a constant (CompileError otherwise). No iteration reads what an
// earlier one wrote, except in the forms of step 4 (poly::check_races guarantees this).
//
//  1. The loop variable becomes ramp(min, 1, lanes). What depends on it is widened, what does not stays
//     scalar and is broadcast where it meets a vector. Sums and multiples of ramps stay ramps.
//     Expressions that are periodic in the lane, as select(x % 2 == 0, a[x / 2], b[x / 2]), are computed as
//     one shorter vector per phase, and interleaved (phases.h).
//  2. A Let of a value that differs between lanes is renamed "<name>.v". A condition that differs
//     becomes a mask on the loads and stores below it; nested ones are and-ed, `else` has the negated
//     mask. Where the code below also reads memory at one address for all lanes, it runs only if some
//     lane is on.
//     The end of a loop (a test of the lanes' number) gets no masks that the target has no instructions for:
//     if it holds in all lanes, vectors without masks; else lane by lane.
//  3. An allocation gets one copy per lane, the lane innermost: t[i] becomes t[ramp(i*lanes, 1, lanes)].
//     A loop whose bounds differ between lanes runs to the longest of them under a mask.
//  4. A store to one address for all lanes: a[i] = a[i] op v with an associative op combines the lanes
//     first (reduce<op>; this re-associates float sums, as the user who vectorizes a reduction asks
//     for); without such a dependence the last lane's value is stored.
//  5. Everything else (calls with side effects, parallel loops inside, stores that may collide and
//     read what they write) becomes a serial loop over the lanes around that statement alone.
//
// Of two nested vectorized loops, of which the inner one runs over the terms of a sum, all lanes become one vector
// (vectorize_sums.h). Of others (of different stages: freeze() unrolls the outer ones of one stage), the inner one becomes
// vector code and the outer one serial.

#include "ir/stmt_node.h"
#include <pipe/target.h>

namespace Pipe::lower {

/// `target`: determines which masked accesses exist (null: all).
ir::Stmt vectorize_loops(const ir::Stmt &s, const Target *target = nullptr);

}  // namespace Pipe::lower
