#pragma once
// Plans of kernels -> directives.

#include "autoschedule/gpu/gpu.h"
#include "autoschedule/plan.h"
#include "autoschedule/stage_graph.h"
#include "graph/graph.h"

namespace Pipe::autoschedule {

/// The output in tiles: gpu_blocks over tiles, gpu_threads inside of them; each update that has loops over the output's
/// dimensions likewise, with its reductions inside of the threads. Members at the innermost loop over blocks, with loops
/// over threads, or at the innermost loop over threads. Stages that cannot run in a kernel (calls of C functions, scans
/// over all dimensions) stay on the host. What the user has scheduled is kept.
void apply_kernel(const Plan &plan, const StageGraph &nodes, const graph::Graph &graph,
                  const GPU &gpu, schedules::Schedule &schedule);

}  // namespace Pipe::autoschedule
