#pragma once
// The default loops of a definition.

#include <string>
#include <vector>

#include "graph/graph.h"
#include <pipe/schedule.h>

namespace Pipe::graph {

/// RVars innermost, then the Vars of `args` that are arguments in their own position. None for an
/// extern stage.
std::vector<schedules::Dim> initial_loops(const std::vector<std::string> &args, const Stage &stage);

}  // namespace Pipe::graph
