#pragma once
// Which Funcs are computed in kernels, and what the threads of their updates run over.

#include "autoschedule/machine.h"
#include "autoschedule/stage_graph.h"

namespace Pipe::autoschedule {

/// Chooses StageCost::threads, and marks (Node::on_host) the Funcs that cannot be computed in a kernel: those that call C
/// functions or print, are async or memoized; and those with a long update that hardly any threads could share (a scan
/// over all dimensions, a scatter to computed coordinates that is not a sum for atomic operations).
void choose_threads(StageGraph &nodes, const graph::Graph &graph,
                    const schedules::Schedule &schedule, const Machine &machine);

}  // namespace Pipe::autoschedule
