#pragma once
// Converts plans to directives.

#include "autoschedule/machine.h"
#include "autoschedule/plan.h"
#include "autoschedule/stage_graph.h"
#include "graph/pack.h"
#include <pipe/schedule.h>

namespace Pipe::autoschedule {

/// Writes the plan of one group into `schedule`, which contains the user's directives; these are
/// kept.
///
///     for y_o {                       // parallel
///       for x_o {                     // store level of members that slide
///         member at Level::Tile
///         for y_t {                   // over inner tiles; over rows where these have one row
///           members at Level::Row
///           for y_r { for x_w { for x_v { output } } }     // x_v: one vector
///     } } }
///
/// Splits use GuardWithIf: correct for every size, and nothing outside the requested region is
/// accessed. Adds to `packings` the operands that are copied: for graph::pack(), when all plans are written.
void apply(const Plan &plan, const StageGraph &nodes, const graph::Graph &graph,
           const Machine &machine, schedules::Schedule &schedule,
           std::vector<graph::Packing> &packings);

}  // namespace Pipe::autoschedule
