#pragma once
// The steady state of a loop: the iterations in which no clamp is active and no test fails.

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/linear.h"
#include "ir/stmt_node.h"

namespace Pipe::lower {

/// Whether `s` is a loop that may be worth partitioning, or makes its parent an outer loop: not one of few iterations.
bool is_long_loop(const ir::StmtNode &s);

/// Whether `s` is a loop of many iterations, or of an unknown number.
bool takes_long(const ir::StmtNode &s);

/// What is known of the iterations that a steady state leaves.
struct Rest {
    std::vector<ir::Linear>
        bounds;  ///< sums of the loop variable that are at least 0 in all of them
    /// Comparisons that chose an arm in the steady state, and the other outcome.
    std::vector<std::pair<Expr, bool>> outcomes;
};

/// For the iterations first <= variable <= last (undefined = no such bound), `body` is equivalent
/// to the loop's body. Unchanged statements in it are the same nodes as in the loop's body.
struct SteadyState {
    ir::Stmt body;
    /// Of each block in it that differs from one of the loop's body, by address: what took the place of each statement there;
    /// undefined: nothing.
    std::unordered_map<const ir::StmtNode *, std::vector<ir::Stmt>> blocks;
    Expr first, last;
    /// Savings per iteration of the innermost loops, roughly in scalar operations. Expressions that
    /// could be hoisted out of an innermost loop do not count.
    int saved = 0;
    Rest before, after;  ///< the iterations < first and those > last
};

/// Rewrites the body of a loop under the assumption that every condition that depends on the loop
/// variable has its usual outcome, and computes the iterations for which this is true. Nothing if
/// there is no such condition. In the rest of another steady state (`known`), the other arms are taken.
///
///  * Conditions are min and max, < <= > >= and combinations of them with && || !, wherever they occur:
///    in indices, selects, ifs, masks, bounds of inner loops. Their operands must be sums of the loop
///    variable, variables of inner loops, and loop invariants; division and remainder by constants, min
///    and max, lets and vectors are handled.
///  * The usual outcome: as decided before; that of `known`; else the arm tagged `likely`; else the outcome for all but
///    a constant number of iterations at the loop's start or end; else true for comparisons, and the
///    operand of min or max that varies in the loop.
///  * A condition holds in an iteration if it holds for the extreme values of inner loop variables and
///    lanes.
/// A loop in the body in which nothing is saved stays as it is, so that there need be no second version of it.
/// `innermost`: no statement in the body runs much more often than the body.
std::optional<SteadyState> find_steady_state(const ir::Stmt &loop, bool innermost,
                                             const Rest &known = {});

/// Decides the conditions that have the same outcome in all iterations of the loops around them, as follows from where these
/// begin and end: max(xo * 128, min(xo * 128, w + 52)) in the loop xo in [0, (w + 127) / 128).
ir::Stmt decide_by_ranges(const ir::Stmt &s);

}  // namespace Pipe::lower
