#pragma once
// Conditions of reads: combining and weakening them for skip_stages (skip_stages.h).

#include <functional>
#include <unordered_set>

#include "ir/visit.h"

namespace Pipe::lower {

/// bool Exprs; undefined means never.
Expr always();
/// The condition, or `true` if it is large or has side effects.
Expr limited(const Expr &condition);
bool is_always(const Expr &condition);
Expr conjunction(const Expr &a, const Expr &b);
Expr disjunction(const Expr &a, const Expr &b);
/// `condition` if the guard is true, else false without evaluating it: data that it loads may not
/// exist.
Expr guarded(const Expr &guard, const Expr &condition);

/// A weaker condition without the nodes (variables and calls) selected by `unknown`. If a guard
/// becomes weaker, the guarded condition no longer loads or calls anything.
Expr weakened(const Expr &condition, const std::function<bool(const ir::ExprNode &)> &unknown);

/// Whether it loads, or calls a user's C function, which should not happen unless requested.
bool loads_or_calls(const Expr &e);
/// Number of nodes; loads count as several.
int cost(const Expr &condition);

}  // namespace Pipe::lower
