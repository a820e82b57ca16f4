#pragma once
// From plans to directives.

#include "autoschedule/machine.h"
#include "autoschedule/plan.h"
#include "autoschedule/stage_graph.h"
#include "graph/graph.h"
#include <pipe/schedule.h>

namespace Pipe::autoschedule {

/// Writes the plan of one group into `schedule`, which holds the user's: what he wrote stays.
///
///     for y_o {                       // parallel
///       for x_o {                     // store level of members that slide
///         member at Level::Tile
///         for y_i {
///           members at Level::Row
///           for x_w { for x_v { output } }     // x_v: one vector
///     } } }
///
/// Splits end in GuardWithIf: right for every size, and nothing beyond the asked region is touched.
void apply(const Plan &plan, const StageGraph &nodes, const graph::Graph &graph,
           const Machine &machine, schedules::Schedule &schedule);

}  // namespace Pipe::autoschedule
