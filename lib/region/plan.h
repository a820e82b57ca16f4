#pragma once
// The regions of a scheduled pipeline as data: what is needed, where it is kept, how splits end, and the
// names that the loops use for it. Computed once, before any loop is built; nothing changes it after.

#include <string>

#include "region/demand.h"
#include "region/names.h"
#include "region/storage_plan.h"
#include "region/tail_plan.h"

namespace Pipe::region {

struct RegionPlan {
    const LoopTree &tree;  ///< must outlive the plan
    Demand demand;
    StoragePlan storage;
    TailPlan tails;
    Names names;
};

/// The plan of all levels, consumers first. Throws CompileError where a directive cannot be followed or an
/// access cannot be bounded. `any_size`: Auto tails are guarded instead of shifted inwards, so that no
/// extent is too small.
RegionPlan plan_regions(const LoopTree &tree, bool any_size = false);

/// Only the regions of inputs, what the outputs write, and the lets that these use.
RegionPlan plan_root(const LoopTree &tree, bool any_size = false);

}  // namespace Pipe::region
