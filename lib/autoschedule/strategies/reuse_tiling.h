#pragma once
// The tile sizes and loop order of a segment (Sioutas 2019, section 4.2).

#include <optional>
#include <vector>

#include "autoschedule/strategies/reuse_levels.h"

namespace Pipe::autoschedule::reuse {

/// The cost of a load relative to that of an operation (w), by the size of the buffer that is read. The
/// paper prints no value; these are the ones of the program published with it.
double load_weight(double buffer_bytes, const Machine &machine);

/// A candidate of Algorithm 3.
struct Schedule {
    LoopOrder order;
    std::vector<int64_t> tile;  ///< per dimension of the output
    std::vector<Levels> levels;
};

/// What Algorithm 3 compares, in evaluations of points.
struct ScheduleCost {
    double loads = 0;  ///< w * Cl: rows that stages load, or elements inside of the column's loop
    double evaluations = 0;     ///< Cp: points that stages compute
    double root = 0;            ///< the same without recomputation
    double folded_bytes = 0;    ///< buffers kept for further iterations
    double unfolded_bytes = 0;  ///< buffers consumed at once: compute and store level are the same

    double total() const { return loads + evaluations - root; }
    double working_set() const { return folded_bytes + unfolded_bytes; }
};

/// The costs of all stages. The sum of the paper ends before the output; with the loads of the output
/// (as in the published program), costs of different segmentations can be compared.
ScheduleCost evaluate(const TileView &view, const Schedule &schedule, const Machine &machine);

/// What one iteration of the loop at this position needs of member m, per dimension.
std::vector<int64_t> extents_at(const TileView &view, size_t m, const Schedule &schedule,
                                int position, const Machine &machine);

struct Tiled {
    Schedule schedule;
    ScheduleCost cost;
    long evaluated = 0;
};

/// Algorithm 3 for a segment whose output has_tiles(): the cheapest of all loop orders and tile sizes
/// within the constraints. Nothing if the members' buffers never fit into the L2 cache.
std::optional<Tiled> analyze_tiling(const TileView &view, const Machine &machine);

}  // namespace Pipe::autoschedule::reuse
