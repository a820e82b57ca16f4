#pragma once
// The boxes of Funcs and images that an expression reads.

#include <map>
#include <string>
#include <unordered_set>

#include "region/interval.h"

namespace Pipe::region {

/// The accesses in an expression: a box per Func or image name.
using Touched = std::map<std::string, Box>;

/// Selects of which only the chosen arm may be evaluated: their conditions narrow the accesses of
/// the arms.
using Choices = std::unordered_set<const ir::ExprNode *>;

/// Adds the selects of `e` to `choices`. `scope` contains the largest ranges of the variables.
void add_choices(const Expr &e, const IntervalScope &scope, Choices &choices,
                 const Expr &condition = Expr());

/// Adds to `touched` every Call Func and Call Image of `e`, which is evaluated if `condition` holds
/// (undefined = always; `scope` is already narrowed by it). In the arms of a select, variables are
/// narrowed by its condition. An index with the same sum of variables as a condition, such as x + y
/// with `x + y < n`, is bounded by it, too; if conditions relate variables to each other, the exact
/// range is obtained from poly/joint_range. If `choices` are given, both arms of all other selects
/// may be evaluated anywhere.
void add_touched(const Expr &e, const IntervalScope &scope, Touched &touched,
                 const Expr &condition = Expr(), const Choices *choices = nullptr);

}  // namespace Pipe::region
