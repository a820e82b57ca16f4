#pragma once
// Step 1 of a plan: everything that the loops need, asked of the solver in the order of the loops, so that
// each level has all its lets before anything reads them.

#include "region/region_solver.h"

namespace Pipe::region {

/// The demand of all stages, loops and inputs. The solver then knows how each Func is kept.
Demand demand_of_all(const LoopTree &tree, RegionSolver &regions);

/// What the pipeline reads of its inputs and writes of its outputs.
Demand demand_of_arguments(const LoopTree &tree, RegionSolver &regions);

}  // namespace Pipe::region
