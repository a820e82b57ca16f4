// The candidate tilings of a group, including that of Algorithm 2 of Jangda 2020.

#include <algorithm>
#include <cmath>

#include "autoschedule/group_model.h"
#include "autoschedule/tile_sizes.h"

namespace Pipe::autoschedule {

using poly::Coordinate;

namespace {

constexpr double worth_more = 0.99;  ///< for a larger block
constexpr int64_t short_dim = 16;    ///< a channel or the like: whole or one by one

void add_size(std::vector<int64_t> &sizes, int64_t size, int64_t extent) {
    size = std::clamp<int64_t>(size, 1, extent);
    if (std::find(sizes.begin(), sizes.end(), size) == sizes.end())
        sizes.push_back(size);
}

}  // namespace

/// The reuse of an element along each dimension of the output: the size of its readers' windows.
std::vector<double> GroupModel::reuse() const {
    std::vector<double> result(alignment_.region[0].size(), 1);
    auto count = [&](const std::vector<Coordinate> &region) {
        for (const Coordinate &c : region) {
            if (c.iterator < 0 || !c.distance.bounded())
                continue;
            result[static_cast<size_t>(c.iterator)] +=
                static_cast<double>(c.distance.size() - 1) / static_cast<double>(c.den);
        }
    };
    for (const auto &region : alignment_.region)
        count(region);
    for (const External &e : externals_)
        count(e.region);
    return result;
}

std::vector<int64_t> GroupModel::fill_cache(int64_t cache_bytes, int64_t innermost) const {
    double bytes_per_point = 0;  // numBuffers, each with its own element size
    for (const Member &m : members_)
        bytes_per_point += m.bytes;
    return tile_sizes(static_cast<double>(cache_bytes) / bytes_per_point, extents(), reuse(),
                      innermost);
}

/// Tile heights that give every core the same number of tiles, and some small ones.
std::vector<int64_t> GroupModel::sizes_of_rows(int64_t extent, bool coarse) const {
    std::vector<int64_t> sizes;
    for (int per_core : {1, 2, 4, 8, 16, 32, 64}) {
        if (coarse && per_core != 1 && per_core != 4 && per_core != 16)
            continue;
        add_size(sizes, ceil_div(extent, int64_t(per_core) * machine_.cores), extent);
    }
    add_size(sizes, extent, extent);
    for (int64_t rows : {4, 8, 16, 32, 64}) {
        if (!coarse || rows == 8 || rows == 32)
            add_size(sizes, rows, extent);
    }
    if (extents().size() > 1)
        return sizes;
    const int64_t lanes = static_cast<int64_t>(members_[0].lanes);
    for (int64_t &size : sizes)
        size = std::min(extent, ceil_div(size, lanes) * lanes);
    return sizes;
}

/// Whether some member is needed whole in a dimension, however small the tile: narrow strips of such are small.
bool GroupModel::has_whole_dimension() const {
    for (size_t m = 1; m < members_.size(); m++)
        for (const Coordinate &c : alignment_.region[m])
            if (!moves(c) && width(c, 1) > short_dim)
                return true;
    return false;
}

/// Whole rows, and parts of them that are multiples of the vector.
std::vector<int64_t> GroupModel::sizes_of_columns(bool coarse) const {
    const int64_t extent = extents()[0];
    const int64_t lanes = static_cast<int64_t>(members_[0].lanes);
    std::vector<int64_t> sizes = {extent};
    auto multiple = [&](int64_t size) {
        const int64_t rounded = ceil_div(size, lanes) * lanes;
        if (rounded < extent)
            add_size(sizes, rounded, extent);
    };
    for (int parts : {2, 3, 4, 6, 8}) {
        if (!coarse || parts == 2)
            multiple(ceil_div(extent, parts));
    }
    for (int64_t size : {128, 256, 512}) {
        if (!coarse || size == 256)
            multiple(size);
    }
    for (int64_t vectors : {1, 2, 4}) {
        if (!coarse && has_whole_dimension())
            multiple(vectors * lanes);
    }
    return sizes;
}

/// The row dimension is the longest one except the innermost.
int GroupModel::row_dimension() const {
    int row_dim = extents().size() > 1 ? 1 : 0;
    for (size_t d = 2; d < extents().size(); d++) {
        if (extents()[d] > extents()[static_cast<size_t>(row_dim)])
            row_dim = static_cast<int>(d);
    }
    return row_dim;
}

/// Whether all members are figures of the output's rows, such as their sums: each is computed for one row at a time, and of
/// all of it.
bool GroupModel::members_are_of_rows() const {
    if (extents().size() < 2 || members_.size() < 2)
        return false;
    const std::vector<Level> &levels = levels_[1 + 1];  // for rows along dimension 1
    for (size_t m = 1; m < members_.size(); m++) {
        const auto &region = alignment_.region[m];
        if (levels[m] != Level::Row ||
            std::any_of(region.begin(), region.end(),
                        [&](const Coordinate &c) { return moves(c) && c.iterator == 0; }))
            return false;
    }
    return true;
}

/// The dimensions along which rows may slide: that one, and others as long.
std::vector<int> GroupModel::row_dimensions() const {
    std::vector<int> result = {row_dimension()};
    const int64_t longest = extents()[static_cast<size_t>(result[0])];
    for (size_t d = 1; d < extents().size(); d++)
        if (static_cast<int>(d) != result[0] && extents()[d] > short_dim &&
            2 * extents()[d] >= longest)
            result.push_back(static_cast<int>(d));
    return result;
}

/// Choices for the dimensions that are neither innermost nor rows: one at a time, whole, or in
/// pieces.
std::vector<std::vector<int64_t>> GroupModel::sizes_of_others(int row_dim) const {
    std::vector<std::vector<int64_t>> choices(1, std::vector<int64_t>(extents().size(), 1));
    for (size_t d = 1; d < extents().size(); d++) {
        const int64_t extent = extents()[d];
        const size_t before = choices.size();
        if (static_cast<int>(d) == row_dim || extent == 1)
            continue;
        if (before > 8)
            break;
        for (size_t i = 0; i < before; i++) {
            for (int64_t size : {extent, int64_t(8)}) {
                if (size != extent && extent <= short_dim)
                    continue;
                choices.push_back(choices[i]);
                choices.back()[d] = size;
            }
        }
    }
    return choices;
}

void GroupModel::improve(Choice &best, const Tiling &t) const {
    // A loop of one step is a loop over tiles.
    if (t.row_dim >= 0 && t.size[static_cast<size_t>(t.row_dim)] < 2 * t.step())
        return;
    const Cost cost = evaluate(t);
    if (std::isinf(cost.total) || (best.found && cost.total >= best.cost.total))
        return;
    best = {t, cost, true};
}

void GroupModel::vary(Choice &best, size_t dim, const std::vector<int64_t> &sizes) const {
    Tiling t = best.tiling;
    for (int64_t size : sizes) {
        t.size[dim] = size;
        improve(best, t);
    }
}

/// Optimizes rows with full columns, then columns, then rows again.
GroupModel::Choice GroupModel::descend(Tiling start, int row_dim, bool coarse) const {
    Choice best;
    const size_t r = static_cast<size_t>(row_dim);
    start.size[0] = extents()[0];
    best.tiling = std::move(start);
    const std::vector<int64_t> rows = sizes_of_rows(extents()[r], coarse);
    best.tiling.size[r] = extents()[r];
    vary(best, r, rows);
    // Rows of a single Func without sums are streams: splitting them only serves to occupy more cores.
    const bool streams =
        members_.size() == 1 && members_[0].blocked.empty() && extents()[r] >= 4 * machine_.cores;
    if (extents().size() == 1 || streams || !best.found)
        return best;
    vary(best, 0, sizes_of_columns(coarse));
    if (!coarse && best.tiling.size[0] < extents()[0])
        vary(best, r, rows);
    return best;
}

/// Pieces of further sizes, of the dimensions that are neither innermost nor rows; then the rows again.
void GroupModel::vary_others(Choice &best, bool coarse) const {
    if (extents().size() < 3 || members_.size() == 1 || !best.found)
        return;
    const int row_dim = best.tiling.row_dim;
    for (size_t d = 1; d < extents().size(); d++) {
        if (static_cast<int>(d) == row_dim || extents()[d] <= short_dim)
            continue;
        std::vector<int64_t> sizes;
        for (int64_t size : {16, 32, 64, 128})
            add_size(sizes, size, extents()[d]);
        vary(best, d, sizes);
    }
    if (row_dim > 0)
        vary(best, size_t(row_dim), sizes_of_rows(extents()[size_t(row_dim)], coarse));
}

/// Strips: whole in all dimensions but the innermost, which alone is cut.
GroupModel::Choice GroupModel::strips(bool coarse) const {
    Choice best;
    best.tiling.size = extents();
    vary(best, 0, sizes_of_columns(coarse));
    return best;
}

/// Small ones, and those that transpose: a vector of rows.
std::vector<int64_t> GroupModel::sizes_of_blocks(int row_dim) const {
    std::vector<int64_t> sizes = {2, 4, 8};
    const auto &loads = graph_.nodes[static_cast<size_t>(nodes_[0])].stages[0].loads;
    auto is_column = [&](const poly::Access &load) {
        return autoschedule::is_transposed(load, row_dim);
    };
    if (std::any_of(loads.begin(), loads.end(), is_column))
        add_size(sizes, static_cast<int64_t>(members_[0].lanes), INT64_MAX);
    for (const Member &member : members_)
        if (!member.jumping.empty())
            add_size(sizes, static_cast<int64_t>(member.lanes), INT64_MAX);
    return sizes;
}

/// Blocks of rows, in tiles of whole blocks.
void GroupModel::vary_block(Choice &best, int row_dim) const {
    if (row_dim <= 0 || !best.found || best.tiling.by_block)
        return;
    const Tiling start = best.tiling;
    const size_t r = static_cast<size_t>(row_dim);
    for (int64_t block : sizes_of_blocks(row_dim)) {
        Tiling t = start;
        t.row_dim = row_dim;
        t.block = block;
        t.size[r] =
            std::min(extents()[r], std::max(ceil_div(t.size[r], block), int64_t(2)) * block);
        Choice blocked = best;
        improve(blocked, t);
        const double worth_it = best.tiling.block > 1 ? worth_more : worth_unrolling;
        if (blocked.cost.total < worth_it * best.cost.total)
            best = blocked;
    }
}

/// The tile once more for the blocks that were chosen: with them, a row costs less.
void GroupModel::vary_tile_of_blocks(Choice &best, int row_dim, bool coarse) const {
    const int64_t block = best.tiling.block;
    if (block == 1)
        return;
    const size_t r = static_cast<size_t>(row_dim);
    std::vector<int64_t> rows = sizes_of_rows(extents()[r], coarse);
    for (int64_t &size : rows)
        size = std::min(extents()[r], ceil_div(size, block) * block);
    vary(best, r, rows);
    vary(best, 0, sizes_of_columns(coarse));
    vary(best, r, rows);
}

/// Values that the channels of a point share may be worth it, with or without blocks of rows.
void GroupModel::unroll_short(Choice &best, int row_dim) const {
    if (!best.found || best.tiling.by_block)
        return;
    const Tiling start = best.tiling;
    const StageCost &pure = graph_.nodes[static_cast<size_t>(nodes_[0])].stages[0];
    for (size_t d = 1; d < extents().size(); d++) {
        if (static_cast<int>(d) == row_dim ||
            !are_channels(pure, static_cast<int>(d), extents()[d]))
            continue;
        Choice unrolled = best;
        Tiling t = start;
        t.unrolled = static_cast<int>(d);
        t.size[d] = extents()[d];
        improve(unrolled, t);
        for (int64_t block : {1, 2, 4, 8}) {
            if (t.row_dim <= 0)
                break;
            const size_t r = static_cast<size_t>(t.row_dim);
            t.block = block;
            t.size[r] = std::min(extents()[r],
                                 std::max(ceil_div(start.size[r], block), int64_t(2)) * block);
            improve(unrolled, t);
        }
        if (unrolled.cost.total < worth_unrolling_channels * best.cost.total)
            best = unrolled;
    }
}

std::optional<Plan> GroupModel::best(bool coarse) const {
    Choice best;
    if (extents().empty()) {
        improve(best, {});
        return make_plan(best);
    }
    auto take = [&](const Choice &c) {
        if (c.found)
            improve(best, c.tiling);
    };
    for (const int row_dim : row_dimensions()) {
        for (const std::vector<int64_t> &others : sizes_of_others(row_dim)) {
            take(descend({others, -1}, row_dim, coarse));
            if (members_.size() > 1 && row_dim > 0)
                take(descend({others, row_dim}, row_dim, coarse));
            if (!sums_.empty()) {
                Tiling by_block{others, -1};
                by_block.by_block = true;
                take(descend(by_block, row_dim, coarse));
            }
        }
    }
    vary_others(best, coarse);
    if (best.found && extents().size() > 2 && members_are_of_rows()) {
        Tiling single_rows = best.tiling;
        single_rows.size[0] = extents()[0], single_rows.size[1] = extents()[1];
        single_rows.row_dim = 1;
        single_rows.single_rows = true;
        take(descend(single_rows, row_dimension(), coarse));
    }
    if (has_whole_dimension())
        take(strips(coarse));
    if (members_.size() > 1) {
        const int64_t innermost = 16 * static_cast<int64_t>(members_[0].lanes);
        improve(best, {fill_cache(machine_.l1_bytes, innermost), -1});
        improve(best, {fill_cache(machine_.l2_bytes, innermost), -1});
    }
    const int row_dim = best.tiling.row_dim > 0 ? best.tiling.row_dim : row_dimension();
    vary_block(best, row_dim);
    vary_tile_of_blocks(best, row_dim, coarse);
    unroll_short(best, row_dim);
    return make_plan(best);
}

std::optional<Plan> GroupModel::plan_of(const Tiling &tiling) const {
    Choice choice;
    improve(choice, tiling);
    return make_plan(choice);
}

std::optional<Plan> GroupModel::make_plan(const Choice &choice) const {
    if (!choice.found)
        return std::nullopt;
    const Tiling &chosen = choice.tiling;
    Plan plan;
    plan.members = nodes_;
    plan.stage = reading_;
    plan.cost = choice.cost;
    plan.tile = chosen.size;
    plan.row_dim = chosen.row_dim;
    plan.step = chosen.step();
    for (int d = 0; chosen.single_rows && d < static_cast<int>(extents().size()); d++)
        plan.inner.push_back(d);
    plan.block = chosen.block;
    plan.unrolled = chosen.unrolled;
    plan.levels = levels_of(chosen);
    for (size_t m = 0; m < members_.size(); m++)
        plan.extents.push_back(step_extents(m, chosen)), plan.rows.push_back(rows_of(m, chosen)),
            plan.transposed.push_back(is_transposed(m, chosen));
    if (chosen.by_block)
        set_block(chosen, plan);
    plan.slides.assign(members_.size(), false);
    plan.shares.assign(members_.size(), -1);
    for (size_t m = 1; m < members_.size(); m++) {
        for (const Coordinate &c : alignment_.region[m]) {
            const bool row = plan.levels[m] == Level::Row && c.iterator == plan.row_dim;
            if (row && c.distance.size() > c.num)
                plan.slides[m] = true;
        }
    }
    // Loops over tiles: the one with most iterations is outermost and parallel, the others are in
    // storage order.
    auto count = [&](int g) {
        const size_t d = static_cast<size_t>(g);
        return ceil_div(extents()[d], plan.tile[d]);
    };
    for (int g = static_cast<int>(extents().size()); g-- > 0;) {
        if (count(g) > 1)
            plan.outer.push_back(g);
    }
    auto most = std::max_element(plan.outer.begin(), plan.outer.end(),
                                 [&](int a, int b) { return count(a) < count(b); });
    if (most != plan.outer.end())
        std::rotate(plan.outer.begin(), most, most + 1);
    plan.parallel = machine_.cores > 1 && !plan.outer.empty();
    plan.streams = streams();
    return plan;
}

}  // namespace Pipe::autoschedule
