#pragma once
// compute_at(g, x) where several stages of g have a loop x: in each that needs the Func.

#include "graph/freeze.h"

namespace Pipe::graph {

/// Where several stages of g need what is computed at a loop that each of them has, all but the first
/// get copies of it: of the Func, of what is inlined on the way, and of what is computed inside. Where
/// one needs it, it is computed in that. To be called after resolve_levels.
void copy_for_stages(Frozen &frozen);

}  // namespace Pipe::graph
