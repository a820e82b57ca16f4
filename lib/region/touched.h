#pragma once
// Which box of each Func and image an expression reads.

#include <map>
#include <string>
#include <unordered_set>

#include "region/interval.h"

namespace Pipe::region {

/// What the calls below an expression touch: box per Func or image name.
using Touched = std::map<std::string, Box>;

/// Selects of which only the arm that is chosen may be evaluated: their conditions make what an arm
/// touches smaller.
using Choices = std::unordered_set<const ir::ExprNode *>;

/// Adds those of `e` to `choices`. In `scope` stand the largest ranges that the variables can have.
void add_choices(const Expr &e, const IntervalScope &scope, Choices &choices,
                 const Expr &condition = Expr());

/// Adds to `touched` every Call Func and Call Image of `e`, which is evaluated where `condition` holds
/// (undefined = everywhere; `scope` is narrowed by it already). Arms of a select see the variables
/// narrowed by their condition. An index in which several variables stand as in a condition, as x + y
/// in `x + y < n`, is bounded by it too; where conditions tie variables to each other, the exact
/// range is asked of poly/joint_range. Where `choices` are given, both arms of all other selects may be
/// evaluated anywhere.
void add_touched(const Expr &e, const IntervalScope &scope, Touched &touched,
                 const Expr &condition = Expr(), const Choices *choices = nullptr);

}  // namespace Pipe::region
