#include "autoschedule/tile_sizes.h"

#include <algorithm>
#include <cmath>

namespace Pipe::autoschedule {

std::vector<int64_t> tile_sizes(double points, const std::vector<int64_t> &extents,
                                const std::vector<double> &reuse, int64_t innermost) {
    std::vector<int64_t> tile = extents;
    if (tile.empty())
        return tile;
    tile[0] = std::min(extents[0], innermost);
    double left = points / static_cast<double>(tile[0]);
    std::vector<size_t> open;
    for (size_t d = 1; d < extents.size(); d++) {
        if (extents[d] < shortest_tiled)
            left /= static_cast<double>(extents[d]);
        else
            open.push_back(d);
    }
    while (!open.empty()) {
        // left = product over the open dimensions of (unit * reuse)
        double product = left;
        for (size_t d : open)
            product /= reuse[d];
        const double unit =
            std::pow(std::max(product, 0.0), 1.0 / static_cast<double>(open.size()));
        const auto whole = [&](size_t d) {
            return unit * reuse[d] >= static_cast<double>(extents[d]);
        };
        const auto rest = std::stable_partition(open.begin(), open.end(), whole);
        if (rest == open.begin()) {
            for (size_t d : open)
                tile[d] = std::max<int64_t>(1, static_cast<int64_t>(unit * reuse[d]));
            break;
        }
        for (auto d = open.begin(); d != rest; ++d)
            left /= static_cast<double>(extents[*d]);
        open.erase(open.begin(), rest);
    }
    return tile;
}

}  // namespace Pipe::autoschedule
