#pragma once
// Step 1 of lowering: the loop nests of a scheduled graph.

#include "ir/stmt_node.h"
#include "region/plan.h"

namespace Pipe::lower {

/// Builds the loops that compute the outputs; storage and values are still multi-dimensional
/// (Realize, Provide, Call Func).
///
///  1. For each Func that is computed: `produce f` = one nest per stage, with the loops that result
///     from its splits, fuses and reorders (Jangda 2020, Algorithm 4, and Sioutas 2019 need no other
///     form).
///  2. Just inside loop L are, outermost first: the lets that L's regions need, the storage of Funcs
///     stored at L, the production of Funcs computed at L (producers first), the body of L's own stage.
///  3. Splits become `let x = outer * factor + inner + min`; tails become a shorter inner loop, a
///     shifted start, or an If.
///  4. Sliding windows compute only the new part (region::StageDemand::domain); indices of folded dimensions are
///     taken modulo their factor.
///
///     for y {                                       // out.compute_root(), bx.compute_at(out, y)
///       let bx.s0.y.max = ...
///       realize bx [out.min.0, ...][y, 3] {
///         produce bx { for bx.s0.y { for bx.s0.x { provide bx(x, y) = ... } } }
///         for x { provide out(x, y) = ... }
///       }
///     }
/// `prologue` runs first (region_checks()); it may use the lets of the root.
ir::Stmt build(const region::RegionPlan &plan, ir::Stmt prologue);

}  // namespace Pipe::lower
