#pragma once
// Conditions of reads: how skip_stages (skip_stages.h) combines and weakens them.

#include <functional>
#include <unordered_set>

#include "ir/visit.h"

namespace Pipe::lower {

/// bool Exprs; undefined means never.
Expr always();
/// The condition, or `true` where it is large or has an effect.
Expr limited(const Expr &condition);
bool is_always(const Expr &condition);
Expr conjunction(const Expr &a, const Expr &b);
Expr disjunction(const Expr &a, const Expr &b);
/// `condition` where the guard holds and false elsewhere, where it is not evaluated: what it loads
/// may not be there.
Expr guarded(const Expr &guard, const Expr &condition);

/// A condition that holds wherever this one may hold, without the nodes (variables and calls) that
/// `unknown` picks out. Where a guard becomes weaker, what it guards loads and calls nothing any
/// more.
Expr weakened(const Expr &condition, const std::function<bool(const ir::ExprNode &)> &unknown);

/// Whether it loads or calls a C function of the user's: what should not be done where it was not
/// asked for.
bool loads_or_calls(const Expr &e);
/// Nodes, loads counted as several.
int cost(const Expr &condition);

}  // namespace Pipe::lower
