#pragma once
// Whether the target has the device of the schedule.

#include "graph/graph.h"
#include <pipe/target.h>

namespace Pipe::graph {

/// CompileError if a loop, or the memory of a Func, is mapped to a GPU: only code for CPUs is
/// generated. Checked when a pipeline is compiled, so that directives for GPUs can be given and
/// printed anywhere.
void check_device(const Graph &graph, const schedules::Schedule &schedule, const Target &target);

}  // namespace Pipe::graph
