#pragma once
// Dependence test for loops of updates that are parallel, vectorized or reordered.

#include <string>
#include <vector>

#include "graph/graph.h"

namespace Pipe::poly {

struct RaceOptions {
    bool fast_math = false;                 ///< sums and products of floats may be regrouped
    unsigned long max_operations = 200000;  ///< isl's quota per loop
};

/// A loop of an associative update whose iterations share elements: each needs private accumulators
/// (lower/private_accumulators.h).
struct SharedLoop {
    FuncId func = FuncId::None;
    int stage = 0;
    std::string loop;
};

/// CompileError if a parallel or vectorized loop over an RVar, or a different order of such loops,
/// may change the result of an update: the message gives the two accesses, the loop, and what to
/// do. A dependence test with isl on the update's affine accesses; anything that it cannot prove
/// within the quota counts as a conflict. allow_race_conditions() disables the test. Returns the
/// loops of associative updates, outermost first, that are legal with private accumulators.
std::vector<SharedLoop> check_races(const graph::Graph &graph, const schedules::Schedule &schedule,
                                    const RaceOptions &options);

}  // namespace Pipe::poly
