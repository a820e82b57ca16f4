#pragma once
// Checks a plan for consistency.

#include "region/plan.h"

namespace Pipe::region {

/// Throws InternalError where the plan of all levels contradicts itself:
///  * a level that is named is no loop, or a loop has no range;
///  * a split has no tail, or a variable of a nest no range;
///  * a let uses one that is not bound before it at the level or further out;
///  * stored where it is computed, a region provably lacks part of what one computation stores there;
///  * a fold has fewer planes than are live at a time, or an allocation the wrong number of dimensions.
void verify(const RegionPlan &plan);

}  // namespace Pipe::region
