#pragma once
// private_accumulators: gives each iteration of a parallel or vectorized loop over an RVar, or of one over the threads or
// blocks of a GPU, private accumulators, before lowering.
//
//     parallel r in [0, n)                        m(u) = 0
//       f += g(r)                           =>    parallel u in [0, 64)
//                                                   for i in [0, n/64)
//                                                     m(u) += g(u*(n/64) + i)
//                                                 for u in [0, 64)
//                                                   f += m(u)
//
// Precondition: poly::check_races accepted every loop.
//
//  1. A parallel loop with many or an unknown number of iterations is split into at most 64 tasks,
//     independent of the number of threads, so that the result does not depend on it.
//  2. graph::factor() creates the new Func and the update that combines its values (as rfactor does).
//     It is computed where the old one is, or inside those loops of the old stage that enclose the
//     shared one.
//  3. Lanes are combined at once if there is one value; tasks are combined one after the other.
//  4. If several loops of a stage are shared, the outermost is processed first; the next belongs to
//     the new Func.
//  5. The parts of blocks of a GPU are computed by a kernel of their own, and combined by the kernel of what remains of the
//     stage; of a single thread where that has no loops for a GPU. Those of threads are computed in the block, and combined
//     there.

#include <utility>
#include <vector>

#include "graph/graph.h"
#include "poly/races.h"

namespace Pipe::lower {

std::pair<graph::Graph, schedules::Schedule>
private_accumulators(const graph::Graph &graph, const schedules::Schedule &schedule,
                     const std::vector<poly::SharedLoop> &loops);

}  // namespace Pipe::lower
