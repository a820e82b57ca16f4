#pragma once
// Versions of the loops of a group's output for Buffers such as those at hand (specialize()): what is known of their bounds
// makes vectors dense, decides which arm of a mux a point takes, or tells how many vectors a row has.

#include "autoschedule/machine.h"
#include "autoschedule/output_loops.h"
#include "autoschedule/plan.h"
#include "autoschedule/stage_graph.h"
#include <pipe/schedule.h>

namespace Pipe::autoschedule {

/// To be called when the loops of the group are in the schedule.
void add_versions(const Plan &plan, const StageGraph &nodes, const graph::Graph &graph,
                  const Machine &machine, const OutputLoops &loops, schedules::Schedule &schedule);

}  // namespace Pipe::autoschedule
