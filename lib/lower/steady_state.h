#pragma once
// The steady state of a loop: the iterations in which no clamp clamps and no test fails.

#include <optional>

#include "ir/stmt_node.h"

namespace Pipe::lower {

/// For the iterations first <= variable <= last (undefined = no such bound) `body` does what the loop's
/// body does. Statements in it that are no different are the same nodes as in the loop's body.
struct SteadyState {
    ir::Stmt body;
    Expr first, last;
    /// What is saved per iteration of the innermost loops, roughly in scalar operations. What could be
    /// computed once outside of an innermost loop does not count.
    int saved = 0;
};

/// Rewrites the body of a loop as if every condition that the loop variable decides came out the usual
/// way, and says for which iterations it does. Nothing where there is no such condition.
///
///  * Conditions are min and max, < <= > >= and what is built of them with && || !, wherever they occur:
///    in indices, selects, ifs, masks, bounds of inner loops. Their operands must be sums of the loop
///    variable, variables of loops further in, and what does not change in the loop; division and
///    remainder by constants, min and max, lets and vectors are looked through.
///  * The usual way: what was decided before; else the arm tagged `likely`; else what holds for all but a constant number of
///    iterations at the loop's start or end; else true for comparisons, and the operand of min or max
///    that changes in the loop.
///  * A condition holds in an iteration if it holds for the extreme values of inner loop variables and
///    lanes.
///
/// `innermost`: nothing in the body runs much more often than the body.
std::optional<SteadyState> find_steady_state(const ir::Stmt &loop, bool innermost);

}  // namespace Pipe::lower
