#pragma once
// Copies of operands, in the order in which the lanes of a sum read them:
//
//     score(j, i) = sum(keys(d, j) * queries(d, i))    lanes along j gather; those along d have to be added up for each score
//
//     copy(j, d) = keys(d, j)
//     score(j, i) = sum(copy(j, d) * queries(d, i))    lanes along j load vectors
//
// The copy is keys.in(score) with another order in memory. Each of its elements is read once for each i.

#include <optional>

#include "graph/graph.h"
#include <pipe/schedule.h>

namespace Pipe::autoschedule {

/// The graph with these copies, whose loops are in the schedule; nothing where no operand is of this kind.
std::optional<graph::Graph> with_operand_copies(const graph::Graph &graph,
                                                schedules::Schedule &schedule);

}  // namespace Pipe::autoschedule
