#pragma once
// in(), as a transformation of the graph.

#include <string>
#include <vector>

#include "graph/graph.h"
#include <pipe/schedule.h>

namespace Pipe::graph {

/// A copy of what one Func reads of another one or of an image: source.in(reader).
struct Packing {
    FuncId reader = FuncId::None;
    FuncId func = FuncId::None;  ///< that is read; None: the image
    int image = -1;
    schedules::LoopLevel level;      ///< where it is computed and stored
    std::vector<int> storage_order;  ///< its dimensions, innermost first
    int64_t row = 0;                 ///< align_storage() of the first of these; 0: none
    int64_t lanes = 1;               ///< of its vectors, along the first of these
};

/// Adds the copies, and what is given of their schedules. Ids change, and those in the schedule with them.
void pack(Graph &graph, schedules::Schedule &schedule, const std::vector<Packing> &packings);

}  // namespace Pipe::graph
