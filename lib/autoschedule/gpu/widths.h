#pragma once
// What a tile of a group's output needs of a member or a buffer, along one dimension.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "poly/access.h"

namespace Pipe::autoschedule {

/// Elements for so many points along the coordinate's iterator; of a coordinate whose distance is bounded.
inline double width_of(const poly::Coordinate &c, int64_t tile) {
    const int64_t travel = c.iterator < 0 ? 0 : std::abs(c.num) * (tile - 1);
    return static_cast<double>((travel + c.distance.size() - 1) / c.den + 1);
}

/// The same in the middle of the domain, where boundary conditions do nothing, if it is known there.
inline poly::Coordinate in_the_middle(poly::Coordinate c) {
    if (c.steady.bounded())
        c.distance = c.steady;
    return c;
}

/// Elements along one dimension that a tile of the output needs.
inline double width_in(const poly::Coordinate &c, const std::vector<int64_t> &tile) {
    const double most = static_cast<double>(std::min<int64_t>(c.range.size(), 1 << 30));
    if (!c.distance.bounded())
        return most;
    return std::min(most, width_of(c, c.iterator < 0 ? 1 : tile[static_cast<size_t>(c.iterator)]));
}

}  // namespace Pipe::autoschedule
