#pragma once
// Several schedules that the model finds good, for tuning by measurement.

#include <string>
#include <vector>

#include "autoschedule/autoschedule.h"

namespace Pipe::autoschedule {

struct Alternative {
    std::string name;    ///< what distinguishes it: "auto", "no fusion", "blur: tile 64 x 32"
    graph::Graph graph;  ///< as in Result
    schedules::Schedule schedule;
    double cost = 0;  ///< predicted clocks on `machine`; 0 of a published scheduler
};

/// First the schedule that schedule() returns, then others, those of lower cost first and of all kinds
/// in turn:
///  * what the search finds for machines with other caches, memory, registers and overheads, and
///    with groups of limited size: other groupings, inlining, tiles and register blocks;
///  * the best plan with other tiles, loop orders or blocks of rows for one of its groups.
/// With `published`, what the strategies find follows the first one. Some may be equal. Empty where the model finds nothing. For CPUs only. Deterministic.
std::vector<Alternative> alternatives(const graph::Graph &graph, const schedules::Schedule &user,
                                      const Sizes &sizes, const Machine &machine,
                                      const AutoscheduleOptions &options, size_t count,
                                      bool published = false);

}  // namespace Pipe::autoschedule
