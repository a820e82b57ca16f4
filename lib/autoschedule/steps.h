#pragma once
// The steps of schedule(), for searches of other kinds (alternatives.h).

#include "autoschedule/autoschedule.h"
#include "autoschedule/search.h"

namespace Pipe::autoschedule {

/// The user's schedule with the default loops of every definition for which it has none.
schedules::Schedule with_loops(const graph::Graph &graph, const schedules::Schedule &user);

/// What is searched. Notes and times go to `report`.
StageGraph stages_of(const graph::Graph &graph, const schedules::Schedule &start,
                     const Sizes &sizes, const Machine &machine, Report &report);

/// Writes the plans into the schedule; Funcs scheduled by the user get a level where they have none. Returns the graph for
/// which the schedule then is: with copies of operands, and with some updates unrolled.
graph::Graph write_plans(const SearchResult &found, const graph::Graph &graph,
                         const Machine &machine, schedules::Schedule &schedule);

}  // namespace Pipe::autoschedule
