#pragma once
// Step 1 of lowering: the loop nests of a scheduled graph.

#include "ir/stmt_node.h"
#include "region/region_map.h"

namespace Pipe::lower {

/// Builds the loops that compute the outputs, with storage and values still multi-dimensional
/// (Realize, Provide, Call Func).
///
///  1. For each Func that is computed: `produce f` = one nest per stage, the loops that its splits,
///     fuses and reorders left (Jangda 2020, Algorithm 4, and Sioutas 2019 need no other form).
///  2. Just inside loop L stand, outermost first: the lets that L's regions need, the storage of Funcs
///     stored at L, the production of Funcs computed at L (producers first), what L's own stage does.
///  3. Splits become `let x = outer * factor + inner + min`; tails become a shorter inner loop, a shifted
///     start, or an If.
///  4. Windows that slide compute only what is new (RegionMap::domain); folded dimensions are indexed
///     modulo their factor.
///
///     for y {                                       // out.compute_root(), bx.compute_at(out, y)
///       let bx.s0.y.max = ...
///       realize bx [out.min.0, ...][y, 3] {
///         produce bx { for bx.s0.y { for bx.s0.x { provide bx(x, y) = ... } } }
///         for x { provide out(x, y) = ... }
///       }
///     }
/// `any_size`: a loop to be unrolled or vectorized whose extent is no constant stays serial (the splits'
/// guards take that away from it); otherwise the later passes refuse it.
/// `prologue` runs first (region_checks()); it may use the lets of the root.
ir::Stmt build(const region::LoopTree &tree, region::RegionMap &regions, bool any_size,
               ir::Stmt prologue);

}  // namespace Pipe::lower
