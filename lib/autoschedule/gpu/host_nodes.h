#pragma once
// Which Funcs cannot be computed in a kernel.

#include "autoschedule/machine.h"
#include "autoschedule/stage_graph.h"

namespace Pipe::autoschedule {

/// Marks (Node::on_host) the Funcs that call C functions or print, are async or memoized, and those with an update without
/// a loop over any of their dimensions (a scan, a scatter), unless it is a reduction whose iterations may be combined by
/// atomic operations.
void mark_host_nodes(StageGraph &nodes, const graph::Graph &graph,
                     const schedules::Schedule &schedule, const Machine &machine);

}  // namespace Pipe::autoschedule
