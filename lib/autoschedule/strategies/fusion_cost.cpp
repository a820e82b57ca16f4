#include "autoschedule/strategies/fusion_cost.h"

#include <algorithm>
#include <cmath>

namespace Pipe::autoschedule {

FusionCost fusion_cost(const GroupModel &group, const Machine &machine, int64_t cache_bytes,
                       const FusionWeights &weights, const std::vector<int64_t> &tile) {
    constexpr double element_bytes = 4;
    FusionCost cost;
    const double buffers = group.buffer_bytes();
    const double footprint =
        std::max(1.0, std::min(buffers / machine.cores, static_cast<double>(cache_bytes)));
    cost.tile =
        tile.empty() ? group.fill_cache(static_cast<int64_t>(footprint), weights.innermost) : tile;
    const Volumes v = group.volumes(cost.tile);
    double points = 1;
    for (int64_t size : cost.tile)
        points *= static_cast<double>(size);
    cost.live = (v.live_in + v.live_out) / v.tile;
    cost.cleanup =
        std::fmod(std::floor(buffers / footprint) + machine.cores - 1, double(machine.cores));
    cost.overlap = v.overlap / footprint;
    cost.extents = group.deviation_of_extents() * element_bytes;
    cost.is_small = v.overlap_points < points;
    return cost;
}

namespace {

/// The dimension that inner tiles cut most often, except the innermost; -1: none.
int cut_dimension(const std::vector<int64_t> &outer, const std::vector<int64_t> &inner) {
    int best = -1;
    double most = 1;
    for (size_t d = 1; d < outer.size(); d++) {
        const double cuts = double(outer[d]) / double(inner[d]);
        if (cuts >= 2 && cuts > most)
            best = static_cast<int>(d), most = cuts;
    }
    return best;
}

}  // namespace

std::optional<FusionTiles> fusion_tiles(const GroupModel &group, const Machine &machine,
                                        const FusionWeights &weights, bool two_levels) {
    if (!group.has_constant_dependences())
        return std::nullopt;
    const FusionCost in_l1 = fusion_cost(group, machine, machine.l1_bytes, weights);
    if (in_l1.is_small)
        return FusionTiles{in_l1, {in_l1.tile}};
    const FusionCost in_l2 = fusion_cost(group, machine, machine.l2_bytes, weights);
    FusionTiles result{in_l2, {in_l2.tile}};
    const int dim = two_levels ? cut_dimension(in_l2.tile, in_l1.tile) : -1;
    if (dim >= 0) {
        result.tiling.row_dim = dim;
        result.tiling.inner = in_l1.tile[static_cast<size_t>(dim)];
    }
    return result;
}

}  // namespace Pipe::autoschedule
