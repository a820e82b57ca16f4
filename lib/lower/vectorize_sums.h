#pragma once
// Two nested vectorized loops, of which the inner one runs over terms that are combined in one element:
//
//     for[vectorized] u in [0, 16)                 let w = {0, .., 31}
//       for[vectorized] g in [0, 2)          =>    a[ramp(0, 1, 16)] = a[ramp(0, 1, 16)] +
//         a[u] = a[u] + b[2*u + g]                                     reduce<+>(b[w], 16)
//
// All lanes are those of one loop w, in which u = w / 2 and g = w % 2. For sums of some narrow integers, processors
// have instructions (ir/narrow_term.h).

#include "ir/stmt_node.h"

namespace Pipe::lower {

/// \param outer  a vectorized loop of constant extent
/// \return undefined where the loops are not of this form
ir::Stmt vectorize_sums(const ir::Stmt &outer);

}  // namespace Pipe::lower
