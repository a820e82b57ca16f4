#pragma once
// Scatters to coordinates of which some are formulas of one RVar each, as of h(r.x / 8, r.y / 8, bin(r)): iterations of
// different cells of such a coordinate store to different elements, so that cells may be computed in any order.

#include <vector>

#include "autoschedule/stage_graph.h"
#include "autoschedule/stage_loops.h"
#include "graph/graph.h"

namespace Pipe::autoschedule {

/// One per coordinate that is `r` or `r / n`, with a constant added or not, in the order of the coordinates. None where
/// the update may read elements that other iterations store.
std::vector<Cells> cells_of(const graph::FuncNode &func, const graph::Stage &stage,
                            const StageCost &cost);

/// Whether an update that is computed once should be parallel over its last cells: no pure loop occupies the cores.
bool is_parallel_over_cells(const Node &node, const StageCost &stage, int cores);

/// [short pure loops, unrolled] [other cells] [RVars in a cell] [other pure loops] [cells, in parallel]. An iteration
/// does not wait for the sum of the one before, which is in the neighboring cell.
std::vector<schedules::Dim> loops_over_cells(InnerLoops inner, const Node &node,
                                             const StageCost &stage);

}  // namespace Pipe::autoschedule
