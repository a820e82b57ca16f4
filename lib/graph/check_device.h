#pragma once
// Whether the target has the device that a schedule asks for.

#include "graph/graph.h"
#include <pipe/target.h>

namespace Pipe::graph {

/// CompileError where a loop, or the memory of a Func, is to lie on a GPU: code is made for CPUs
/// alone. Asked when something is compiled, so that directives for GPUs can be given, and printed,
/// anywhere.
void check_device(const Graph &graph, const schedules::Schedule &schedule, const Target &target);

}  // namespace Pipe::graph
