#pragma once
// The order in which Funcs are computed at a level.

#include <vector>

#include "region/loop_tree.h"

namespace Pipe::region {

/// Funcs that share loops (compute_with), or one Func.
using Group = std::vector<FuncId>;

/// All Funcs computed at the level, producers first.
std::vector<Group> production_groups(const LoopTree &tree, const Level &level);

}  // namespace Pipe::region
