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

/// Only what is promised or observed of a Func: bounds, estimates, traces, memoize(). The loops are the
/// initial ones, and it is inlined.
schedules::FuncSchedule without_directives(const schedules::FuncSchedule &given,
                                           const std::vector<std::string> &args,
                                           const std::vector<Stage> &stages);

}  // namespace Pipe::graph
