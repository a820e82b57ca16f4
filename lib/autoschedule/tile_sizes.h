#pragma once
// Tile sizes from the capacity of a cache and the reuse of data (Jangda 2020, Algorithm 2, ComputeTileSizes).

#include <cstdint>
#include <vector>

namespace Pipe::autoschedule {

/// Shorter dimensions, such as channels, are not tiled.
constexpr int64_t shortest_tiled = 4;

/// Sizes, per dimension, of a tile of about `points` points: the innermost dimension (0) gets
/// min(extent, innermost), the others get sizes in the ratio of their reuse. What a dimension cannot
/// use goes to the others. Each size is in 1 .. extent. \param reuse positive, per dimension
std::vector<int64_t> tile_sizes(double points, const std::vector<int64_t> &extents,
                                const std::vector<double> &reuse, int64_t innermost);

}  // namespace Pipe::autoschedule
