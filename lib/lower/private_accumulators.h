#pragma once
// private_accumulators: gives each iteration of a parallel or vectorized loop over an RVar accumulators
// of its own, before anything is lowered.
//
//     parallel r in [0, n)                        m(u) = 0
//       f += g(r)                           =>    parallel u in [0, 64)
//                                                   for i in [0, n/64)
//                                                     m(u) += g(u*(n/64) + i)
//                                                 for u in [0, 64)
//                                                   f += m(u)
//
// Precondition: every loop was found legal by poly::check_races.
//
//  1. A parallel loop of many or an unknown number of iterations is split into at most 64 tasks, however
//     many threads there are: the result does not depend on them.
//  2. graph::factor() makes the new Func and what combines its values (as rfactor does). It is computed
//     where the old one is, or inside those loops of the old stage that stand around the shared one.
//  3. Lanes are combined all at once where there is one value; tasks one after the other.
//  4. Of several loops of one stage the outermost is taken first; the next belongs to the new Func.

#include <utility>
#include <vector>

#include "graph/graph.h"
#include "poly/races.h"

namespace Pipe::lower {

std::pair<graph::Graph, schedules::Schedule>
private_accumulators(const graph::Graph &graph, const schedules::Schedule &schedule,
                     const std::vector<poly::SharedLoop> &loops);

}  // namespace Pipe::lower
