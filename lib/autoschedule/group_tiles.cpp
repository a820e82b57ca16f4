// Which tilings of a group are tried, and what Algorithm 2 of dp-fusion proposes.

#include <algorithm>
#include <cmath>

#include "autoschedule/group_model.h"

namespace Pipe::autoschedule {

using poly::Coordinate;

namespace {

constexpr int64_t short_dim = 16;  ///< a channel or the like: whole or one by one

void add_size(std::vector<int64_t> &sizes, int64_t size, int64_t extent) {
    size = std::clamp<int64_t>(size, 1, extent);
    if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
}

int64_t ratio_up(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

}  // namespace

/// How often an element is used along each dimension of the output: the window of its readers.
std::vector<double> GroupModel::reuse() const {
    std::vector<double> result(alignment_.region[0].size(), 1);
    auto count = [&](const std::vector<Coordinate> &region) {
        for (const Coordinate &c : region) {
            if (c.iterator < 0 || !c.distance.bounded()) continue;
            result[static_cast<size_t>(c.iterator)] +=
                static_cast<double>(c.distance.size() - 1) / static_cast<double>(c.den);
        }
    };
    for (const auto &region : alignment_.region) count(region);
    for (const External &e : externals_) count(e.region);
    return result;
}

std::vector<int64_t> GroupModel::fill_cache(int64_t cache_bytes, int64_t innermost) const {
    const std::vector<int64_t> &extents = graph_.nodes[static_cast<size_t>(nodes_[0])].extents;
    const size_t n = extents.size();
    double bytes_per_point = 0;  // numBuffers, each with its own element size
    for (const Member &m : members_) bytes_per_point += m.bytes;
    std::vector<int64_t> tile(n, 1);
    if (n == 0) return tile;
    tile[0] = std::min(extents[0], innermost);
    double volume = static_cast<double>(cache_bytes) / bytes_per_point / static_cast<double>(tile[0]);
    if (n == 1) return tile;
    const std::vector<double> score = reuse();
    const double most = *std::max_element(score.begin() + 1, score.end());
    for (size_t d = 1; d < n; d++) volume /= score[d] / most;
    const double tau = std::pow(std::max(1.0, volume), 1.0 / static_cast<double>(n - 1));
    for (size_t d = 1; d < n; d++) {
        const double size = std::floor(tau * score[d] / most);
        tile[d] = std::clamp<int64_t>(static_cast<int64_t>(size), 1, extents[d]);
    }
    return tile;
}

/// Heights such that every core gets the same number of tiles, and some small ones.
std::vector<int64_t> GroupModel::sizes_of_rows(int64_t extent, bool coarse) const {
    std::vector<int64_t> sizes;
    for (int per_core : {1, 2, 4, 8, 16, 32, 64}) {
        if (coarse && per_core != 1 && per_core != 4 && per_core != 16) continue;
        add_size(sizes, ratio_up(extent, int64_t(per_core) * machine_.cores), extent);
    }
    add_size(sizes, extent, extent);
    for (int64_t rows : {4, 8, 16, 32, 64}) {
        if (!coarse || rows == 8 || rows == 32) add_size(sizes, rows, extent);
    }
    return sizes;
}

/// Whole rows, and parts of them that are multiples of the vector.
std::vector<int64_t> GroupModel::sizes_of_columns(bool coarse) const {
    const int64_t extent = graph_.nodes[static_cast<size_t>(nodes_[0])].extents[0];
    const int64_t lanes = static_cast<int64_t>(members_[0].lanes);
    std::vector<int64_t> sizes = {extent};
    auto multiple = [&](int64_t size) {
        const int64_t rounded = ratio_up(size, lanes) * lanes;
        if (rounded < extent) add_size(sizes, rounded, extent);
    };
    for (int parts : {2, 3, 4, 6, 8}) {
        if (!coarse || parts == 2) multiple(ratio_up(extent, parts));
    }
    for (int64_t size : {128, 256, 512}) {
        if (!coarse || size == 256) multiple(size);
    }
    return sizes;
}

std::vector<Tiling> GroupModel::candidates(bool coarse) const {
    const std::vector<int64_t> &extents = graph_.nodes[static_cast<size_t>(nodes_[0])].extents;
    const int n = static_cast<int>(extents.size());
    if (n == 0) return {Tiling{}};
    std::vector<int64_t> columns = sizes_of_columns(coarse);
    if (n == 1) {
        for (int64_t size : sizes_of_rows(extents[0], coarse)) {
            const int64_t lanes = static_cast<int64_t>(members_[0].lanes);
            add_size(columns, ratio_up(size, lanes) * lanes, extents[0]);
        }
        std::vector<Tiling> result;
        for (int64_t size : columns) result.push_back({{size}, -1});
        return result;
    }
    if (members_.size() == 1) columns = {extents[0]};  // rows are streams: nothing to gain from parts
    // Rows run along the longest dimension but the innermost; the others are short (whole or one
    // by one) or cut into pieces of one.
    int row_dim = 1;
    for (int d = 2; d < n; d++) {
        if (extents[static_cast<size_t>(d)] > extents[static_cast<size_t>(row_dim)]) row_dim = d;
    }
    std::vector<std::vector<int64_t>> rest(1, std::vector<int64_t>(extents.size(), 1));
    for (int d = 1; d < n; d++) {
        const int64_t extent = extents[static_cast<size_t>(d)];
        if (d == row_dim || extent == 1) continue;
        const size_t before = rest.size();
        if (before > 16) break;
        for (size_t i = 0; i < before; i++) {
            auto with = [&](int64_t size) {
                rest.push_back(rest[i]);
                rest.back()[static_cast<size_t>(d)] = size;
            };
            with(extent);
            if (extent > short_dim) with(8);
        }
    }
    std::vector<Tiling> result;
    auto add = [&](std::vector<int64_t> size) {
        result.push_back({size, -1});
        if (members_.size() > 1) result.push_back({std::move(size), row_dim});
    };
    for (std::vector<int64_t> size : rest) {
        for (int64_t rows : sizes_of_rows(extents[static_cast<size_t>(row_dim)], coarse)) {
            size[static_cast<size_t>(row_dim)] = rows;
            for (int64_t column : columns) {
                size[0] = column;
                add(size);
            }
        }
    }
    const int64_t innermost = 4 * static_cast<int64_t>(members_[0].lanes) * 4;
    add(fill_cache(machine_.l1_bytes, innermost));
    add(fill_cache(machine_.l2_bytes, innermost));
    add(fill_cache(machine_.l2_bytes, extents[0]));
    return result;
}

Plan GroupModel::best(bool coarse) const {
    Plan plan;
    plan.members = nodes_;
    bool found = false;
    Tiling chosen;
    for (const Tiling &t : candidates(coarse)) {
        const Cost cost = evaluate(t);
        if (found && cost.total >= plan.cost.total) continue;
        found = true;
        plan.cost = cost;
        chosen = t;
    }
    plan.tile = chosen.size;
    plan.row_dim = chosen.row_dim;
    plan.levels = levels(chosen);
    plan.slides.assign(members_.size(), false);
    for (size_t m = 1; m < members_.size(); m++) {
        for (const Coordinate &c : alignment_.region[m]) {
            const bool row = plan.levels[m] == Level::Row && c.iterator == plan.row_dim;
            if (row && c.distance.size() > c.num) plan.slides[m] = true;
        }
    }
    // Loops over tiles: the one with most iterations outermost and parallel, then as in memory.
    const std::vector<int64_t> &extents = graph_.nodes[static_cast<size_t>(nodes_[0])].extents;
    auto count = [&](int g) {
        const size_t d = static_cast<size_t>(g);
        return ratio_up(extents[d], plan.tile[d]);
    };
    for (int g = static_cast<int>(extents.size()); g-- > 0;) {
        if (count(g) > 1) plan.outer.push_back(g);
    }
    auto most = std::max_element(plan.outer.begin(), plan.outer.end(),
                                 [&](int a, int b) { return count(a) < count(b); });
    if (most != plan.outer.end()) std::rotate(plan.outer.begin(), most, most + 1);
    plan.parallel = machine_.cores > 1 && !plan.outer.empty();
    return plan;
}

}  // namespace Pipe::autoschedule
