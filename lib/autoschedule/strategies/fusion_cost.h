#pragma once
// Cost and tile sizes of a fused group as Jangda and Bondhugula publish them ("An Effective Fusion and
// Tile Size Model for PolyMage", TOPLAS 2020): equation (2), Algorithms 2 and 4.

#include <cstdint>
#include <optional>
#include <vector>

#include "autoschedule/group_model.h"

namespace Pipe::autoschedule {

/// Table 2, Intel Xeon; section 7.1 for the innermost tile size.
struct FusionWeights {
    double live = 1.0, cleanup = 100.0, overlap = 46875.0, extents = 1.5;
    int64_t innermost = 256;
};

/// The terms of equation (2), and the tile sizes for which they hold.
///
/// The weights belong to these units: bytes, with elements of four bytes in extents; live data of the
/// whole group relative to what one tile computes, so that the first term counts the tiles. (Table 3
/// gives the terms ranges of thousands, which no ratio of one tile's data has; the authors' program
/// divides in this way.)
struct FusionCost {
    std::vector<int64_t> tile;
    double live = 0;        ///< live-in and live-out data / computation
    double cleanup = 0;     ///< (tiles + cores - 1) % cores
    double overlap = 0;     ///< recomputed data / data of a tile
    double extents = 0;     ///< standard deviation of the sizes of dimensions
    bool is_small = false;  ///< there is less overlap than one stage computes of a tile

    double total(const FusionWeights &weights) const {
        return weights.live * live - weights.cleanup * cleanup + weights.overlap * overlap +
               weights.extents * extents;
    }
};

/// CostForCacheSize. \param tile instead of that which fills the cache; empty: that one
FusionCost fusion_cost(const GroupModel &group, const Machine &machine, int64_t cache_bytes,
                       const FusionWeights &weights, const std::vector<int64_t> &tile = {});

struct FusionTiles {
    FusionCost cost;
    Tiling tiling;
};

/// MultiLevelCost: overlapped tiles that fill L1, or where these overlap too much, overlapped tiles
/// that fill L2 with inner tiles that fill L1. These differ in one dimension, in which they follow
/// each other and share what they compute (parallelograms). Nothing if a dependence is not constant.
/// \param two_levels else Algorithm 2: without inner tiles
std::optional<FusionTiles> fusion_tiles(const GroupModel &group, const Machine &machine,
                                        const FusionWeights &weights, bool two_levels);

}  // namespace Pipe::autoschedule
