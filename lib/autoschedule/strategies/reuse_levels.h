#pragma once
// Where the stages of a segment are computed and stored, by the reuse of their values (Sioutas 2019,
// section 4.1).

#include <vector>

#include "autoschedule/strategies/segments.h"

namespace Pipe::autoschedule::reuse {

/// A dependence of a producer on one dimension of its consumer (E of the paper).
struct Overlap {
    int dim = -1;        ///< of the consumer
    int64_t amount = 0;  ///< elements that an iteration along it shares with the one before
    bool full = false;   ///< all are shared: the region does not move, or is not known
};

/// The overlaps of `producer` with one of its consumers: one per dimension with a loop.
std::vector<Overlap> overlaps(const Node &producer, const Node &consumer);

/// Inlines the stages of which no value is reused, and trivial ones (Algorithms 1 and 2).
void inline_without_reuse(StageGraph &graph);

/// The loops of a segment's output, innermost first: D_m of the paper. Positions 0 .. dims - 1 are
/// the loops over the points of a tile in this order; position dims is the innermost loop over
/// tiles.
struct LoopOrder {
    std::vector<int> points;  ///< dimensions
    std::vector<int> tiles;   ///< dimensions, innermost first

    int size() const { return static_cast<int>(points.size()); }
    int position(int dim) const;  ///< of the loop over points
};

/// Inside of the loops at these positions.
struct Levels {
    int compute = 0, store = 0;
};

/// Algorithm 1: compute and store level of every member. [0] is unused.
std::vector<Levels> stage_levels(const TileView &view, const LoopOrder &order);

/// The largest overlap of any two members along each dimension of the output (equation 15).
std::vector<int64_t> largest_overlaps(const TileView &view);

}  // namespace Pipe::autoschedule::reuse
