#pragma once
// The variables of a stage that are no loops: what its splits and fuses took apart.

#include "region/plan.h"

namespace Pipe::region {

/// The variables of the stage whose values are known just inside its loop number p (0: the outermost): what
/// is split or fused, the offsets of tails that shift inwards, and its own variable of a loop that it shares
/// with a shift. Each uses only earlier ones.
Lets variables_at(const RegionPlan &plan, const StageNest &nest, size_t p);

}  // namespace Pipe::region
