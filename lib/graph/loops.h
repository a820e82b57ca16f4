#pragma once
// The loops of a definition that nobody scheduled.

#include <string>
#include <vector>

#include "graph/graph.h"
#include <pipe/schedule.h>

namespace Pipe::graph {

/// RVars innermost, then the Vars of `args` that stand on the left in their places. An extern stage has none.
std::vector<schedules::Dim> initial_loops(const std::vector<std::string> &args, const Stage &stage);

}  // namespace Pipe::graph
