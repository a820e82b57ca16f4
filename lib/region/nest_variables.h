#pragma once
// The variables of a stage that are no loops: what its splits and fuses took apart.

#include "region/plan.h"

namespace Pipe::region {

/// The variables that a split, fuse or rename took apart, by those of the loops that it made. `offset`: of a
/// split, where the iteration of the outer loop begins, counted from the beginning of the range.
Lets taken_apart(const LoopTree &tree, const StageNest &nest, const schedules::Transform &t,
                 const std::map<std::string, Range> &ranges, const Expr &offset);

/// The variables of the stage whose values are known just inside its loop number p (0: the outermost): what
/// is split or fused, the offsets of tails that shift inwards, and its own variable of a loop that it shares
/// with a shift. Each uses only earlier ones. `kept_inside`: of each transform, whether it is a guarded split that shifts
/// inwards, too; where the extent is less than the factor, it begins at the first point and needs its guard.
Lets variables_at(const RegionPlan &plan, const StageNest &nest, size_t p,
                  const std::vector<bool> &kept_inside = {});

}  // namespace Pipe::region
