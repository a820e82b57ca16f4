#pragma once
// Loops of updates that run in parallel, as vectors or in another order: do their iterations touch
// the same elements?

#include <string>
#include <vector>

#include "graph/graph.h"

namespace Pipe::poly {

struct RaceOptions {
    bool fast_math = false;                 ///< sums and products of floats may be regrouped
    unsigned long max_operations = 200000;  ///< isl's quota for one loop
};

/// A loop of an update that combines (sums up, say), and whose iterations share elements: each
/// needs accumulators of its own (lower/private_accumulators.h).
struct SharedLoop {
    FuncId func = FuncId::None;
    int stage = 0;
    std::string loop;
};

/// CompileError where a parallel or vectorized loop over an RVar, or another order of such loops,
/// may change what an update gives: the message names the two accesses, the loop, and what to do. A
/// test for dependences with isl on the update's affine accesses; what it cannot prove within the
/// quota counts as a conflict. Nothing is tested where allow_race_conditions() was given. Answers
/// the loops of associative updates, outermost first, that are legal with accumulators of their
/// own.
std::vector<SharedLoop> check_races(const graph::Graph &graph, const schedules::Schedule &schedule,
                                    const RaceOptions &options);

}  // namespace Pipe::poly
