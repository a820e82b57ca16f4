// Volumes of a group's tiles as Jangda 2020, section 4, defines them.

#include <algorithm>
#include <cmath>

#include "autoschedule/group_model.h"
#include "autoschedule/tile_sizes.h"

namespace Pipe::autoschedule {

using poly::Coordinate;

Volumes GroupModel::volumes(const std::vector<int64_t> &tile) const {
    const Tiling t{tile, -1};
    measure(t);
    Volumes v;
    for (size_t m = 0; m < members_.size(); m++) {
        double alone = 1;  // the part of the tile's region that no other tile computes
        for (const Coordinate &c : alignment_.region[m]) {
            const double moved = moves(c) ? double(std::abs(c.num)) *
                                                double(tile[static_cast<size_t>(c.iterator)]) /
                                                double(c.den)
                                          : width(c, 1);
            alone *= std::min(moved, span(c, t).tile);
        }
        const double overlap = regions_[m].tile - alone;
        v.tile += regions_[m].tile * members_[m].bytes;
        v.overlap += overlap * members_[m].bytes;
        v.overlap_points += overlap;
    }
    for (const External &e : externals_)
        v.live_in += e.size;
    v.live_out = graph_.nodes[static_cast<size_t>(nodes_[0])].points() * members_[0].bytes;
    return v;
}

double GroupModel::buffer_bytes() const {
    double total = 0;
    for (size_t m = 0; m < members_.size(); m++)
        total += graph_.nodes[static_cast<size_t>(nodes_[m])].points() * members_[m].bytes;
    return total;
}

bool GroupModel::has_constant_dependences() const {
    if (!alignment_.constant)
        return false;
    for (const auto &region : alignment_.region) {
        for (size_t g = 0; g < extents().size(); g++) {
            const bool aligned = std::any_of(region.begin(), region.end(), [&](const auto &c) {
                return moves(c) && c.iterator == static_cast<int>(g);
            });
            if (!aligned && extents()[g] >= shortest_tiled)
                return false;
        }
    }
    return true;
}

double GroupModel::deviation_of_extents() const {
    double total = 0;
    for (size_t g = 0; g < extents().size(); g++) {
        double count = 0, sum = 0, squares = 0;
        for (size_t m = 0; m < members_.size(); m++) {
            const Node &node = graph_.nodes[static_cast<size_t>(nodes_[m])];
            for (size_t d = 0; d < alignment_.region[m].size(); d++) {
                if (alignment_.region[m][d].iterator != static_cast<int>(g))
                    continue;
                const double extent = static_cast<double>(node.extents[d]);
                count++, sum += extent, squares += extent * extent;
            }
        }
        if (count > 0)
            total += std::sqrt(std::max(0.0, squares / count - sum * sum / count / count));
    }
    return total;
}

}  // namespace Pipe::autoschedule
