#pragma once
// Prefetches of rows that stream in from beyond the L2 cache.
//
// The prefetchers of processors follow a stream while it moves. A stage that reads a part of a row, or takes turns with the
// other stages of its group, stops at the end of its row; what the others compute meanwhile hides nothing of the latency of
// the row that comes next. So each vector of the stage prefetches what the vector at its place in the next row will read.

#include "autoschedule/machine.h"
#include "autoschedule/plan.h"
#include "autoschedule/stage_graph.h"
#include <pipe/schedule.h>

namespace Pipe::autoschedule {

/// Of each buffer that the group reads and does not compute, if it is larger than the L2 cache, in the stage that reads it
/// first: in loops that the scheduler made, over vectors inside of rows, and for no more rows than the processor follows.
void prefetch_rows(const Plan &plan, const StageGraph &nodes, const graph::Graph &graph,
                   const Machine &machine, schedules::Schedule &schedule);

/// Takes away those of what the definitions do not read once others are inlined, such as an index that an inlined Func
/// ignores: its loads count as the reader's in a StageGraph, and the checks refuse the directive.
void drop_unread_prefetches(const graph::Graph &graph, schedules::Schedule &schedule);

}  // namespace Pipe::autoschedule
