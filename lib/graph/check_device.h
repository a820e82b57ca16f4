#pragma once
// Whether the target has the device of the schedule.

#include "graph/graph.h"
#include <pipe/target.h>

namespace Pipe::graph {

/// CompileError if a loop, or the memory of a Func, is mapped to a GPU, but the target has no kernels
/// (Target::has_cuda). Checked when a pipeline is compiled, and not when a directive is given,
/// because the target is unknown then.
void check_device(const Graph &graph, const schedules::Schedule &schedule, const Target &target);

}  // namespace Pipe::graph
