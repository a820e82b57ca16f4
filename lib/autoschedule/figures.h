#pragma once
// The autoscheduler's groups as numbers to draw: tiles, what is computed of each member, buffers.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "autoschedule/plan.h"
#include "autoschedule/stage_graph.h"

namespace Pipe::autoschedule {

struct MemberFigure {
    std::string name;
    std::vector<int64_t> extents;  ///< computed at a time, per dimension
    double bytes = 0;              ///< of as many elements
};

struct GroupFigure {
    std::string name;                    ///< of the group's output
    std::vector<std::string> args;       ///< its dimensions, innermost first
    std::vector<int64_t> tile, extents;  ///< per dimension: of one tile, of the whole output
    std::string parallel;                ///< the dimension whose tiles are parallel; "": none
    bool is_kernel = false;              ///< for a GPU: the cost is in nanoseconds, not clocks
    std::vector<MemberFigure> members;   ///< without the output, consumers before producers
    double scratch_bytes = 0;            ///< buffers of one tile
    double redundancy = 0;               ///< points computed more than once, as a fraction
    double cost = 0;                     ///< predicted, elapsed
    /// The terms of the cost that are not 0. They overlap in part: their sum may exceed it.
    std::vector<std::pair<std::string, double>> terms;
};

GroupFigure figure_of(const Plan &plan, const StageGraph &nodes, const graph::Graph &graph);

}  // namespace Pipe::autoschedule
