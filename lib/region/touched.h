#pragma once
// Which box of each Func and image an expression reads.

#include <map>
#include <string>
#include <unordered_set>

#include "region/interval.h"

namespace Pipe::region {

/// What the calls below an expression touch: box per Func or image name.
using Touched = std::map<std::string, Box>;

/// Selects of which an arm may touch what is not there where their condition does not choose it: only the
/// arm that is chosen may be evaluated.
using Choices = std::unordered_set<const ir::ExprNode *>;

/// Adds to `touched` every Call Func and Call Image of `e`, which is evaluated where `condition` holds
/// (undefined = everywhere; `scope` is narrowed by it already). Arms of a select see the variables
/// narrowed by their condition. An index in which several variables stand as in a condition, as x + y
/// in `x + y < n`, is bounded by it too; where conditions tie variables to each other, the exact
/// range is asked of poly/joint_range. The selects whose conditions have made a box smaller are added
/// to `choices`.
void add_touched(const Expr &e, const IntervalScope &scope, Touched &touched,
                 const Expr &condition = Expr(), Choices *choices = nullptr);

}  // namespace Pipe::region
