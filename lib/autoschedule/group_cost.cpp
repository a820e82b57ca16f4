// The cost function (Jangda 2020, section 4), in clocks.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "autoschedule/group_model.h"
#include "autoschedule/imbalance.h"
#include "support/cache_lines.h"

namespace Pipe::autoschedule {

using poly::Coordinate;

double GroupModel::width(const Coordinate &c, const poly::Range &distance, int64_t tile) const {
    const int64_t most = std::max<int64_t>(1, c.range.size());
    if (!distance.bounded())
        return static_cast<double>(most);
    const int64_t spread = distance.size();
    if (c.den == 1)
        return static_cast<double>(
            std::clamp<int64_t>(std::abs(c.num) * (tile - 1) + spread, 1, most));
    const int64_t travel = std::abs(c.num) * (tile - 1);
    int64_t count = (travel + spread - 1) / c.den + 1;
    if (c.iterator >= 0 && tile * c.num % c.den == 0) {  // every tile starts as the first one does
        const int64_t min = mins()[static_cast<size_t>(c.iterator)];
        const int64_t first = c.num * (c.num < 0 ? min + tile - 1 : min) + distance.min;
        count = floor_div(first + travel + spread - 1, c.den) - ceil_div(first, c.den) + 1;
    }
    return static_cast<double>(std::clamp<int64_t>(count, 1, most));
}

/// Of one coordinate: its elements for one tile, and summed over the tiles along its iterator.
GroupModel::Span GroupModel::span(const Coordinate &c, const Tiling &t) const {
    if (!moves(c))
        return {width(c, 1), width(c, 1)};
    const size_t g = static_cast<size_t>(c.iterator);
    const double w = width(c, t.size[g]);
    const double overlap = std::max(0.0, w - double(std::abs(c.num)) * double(t.size[g]) / c.den);
    const double whole = width(c, extents()[g]);
    return {w, std::min(whole + (counts_[g] - 1) * overlap, counts_[g] * w)};
}

void GroupModel::measure(const std::vector<Coordinate> &coords, const Tiling &t, Region &r) const {
    r.tile = r.row = r.run = r.total = r.fold = r.again = 1;
    r.swept = false;
    r.widths.clear();
    uint64_t used = 0;  // dimensions of the output that the region moves with
    bool contiguous = true;
    for (size_t d = 0; d < coords.size(); d++) {
        const Coordinate &c = coords[d];
        const auto [w, sum] = span(c, t);
        if (moves(c))
            used |= uint64_t(1) << c.iterator;
        const bool in_rows = moves(c) && t.is_in_rows(c.iterator);
        const double rows = in_rows ? std::min(w, width(c, t.step())) : w;
        r.tile *= w;
        r.total *= sum;
        r.fold *= in_rows ? std::bit_ceil(static_cast<uint64_t>(rows)) : rows;
        r.widths.push_back(w);
        if (d == 0)
            r.row = w;
        r.run *= contiguous ? w : 1;
        contiguous &= w >= static_cast<double>(c.range.size());
    }
    for (size_t g = 0; g < counts_.size(); g++) {
        if (used >> g & 1)
            continue;
        r.total *= counts_[g];
        r.again *= counts_[g];
        for (size_t inner = 0; inner < counts_.size() && counts_[g] > 1; inner++) {
            const bool inside = inner != outermost_ && (g == outermost_ || inner < g);
            r.swept |= inside && (used >> inner & 1) && counts_[inner] > 1;
        }
    }
}

/// The loop over tiles with most iterations is the outermost one, the others are as in memory.
size_t GroupModel::outermost_loop() const {
    size_t outermost = counts_.empty() ? 0 : counts_.size() - 1;
    for (size_t g = counts_.size(); g-- > 0;)
        if (counts_[g] > counts_[outermost])
            outermost = g;
    return outermost;
}

/// Iterations of the pure loops of an update, over all tiles: those that it has.
double GroupModel::swept(size_t member, const StageCost &stage, const Tiling &t) const {
    double total = 1;
    std::vector<double> again = counts_;  // tiles that the loops do not move with
    for (size_t d = 0; d < stage.loops_over.size(); d++) {
        if (!stage.loops_over[d])
            continue;
        const Coordinate &c = alignment_.region[member][d];
        total *= span(c, t).sum;
        if (moves(c))
            again[static_cast<size_t>(c.iterator)] = 1;
    }
    for (double count : again)
        total *= count;
    return total;
}

void GroupModel::measure(const Tiling &t) const {
    tiles_ = 1;
    counts_.clear();
    for (size_t g = 0; g < extents().size(); g++) {
        counts_.push_back(static_cast<double>(ceil_div(extents()[g], t.size[g])));
        tiles_ *= counts_.back();
    }
    outermost_ = outermost_loop();
    steps_ = tiles_;
    for (size_t g = 0; g < extents().size(); g++)
        if (t.is_in_rows(static_cast<int>(g)))
            steps_ *= double(ceil_div(t.size[g], t.step()));
    const size_t n = members_.size();
    regions_.resize(n + externals_.size());
    rows_.resize(n);
    for (size_t m = 0; m < n; m++) {
        measure(alignment_.region[m], t, regions_[m]);
        rows_[m] = rows_of(m, t);
    }
    for (size_t e = 0; e < externals_.size(); e++)
        measure(externals_[e].region, t, regions_[n + e]);
}

/// Chooses row by row for members whose rows only move forward, else tile-wise; a producer of a
/// member that works on whole tiles must also be computed as a whole. (Sioutas 2019, section 4.1:
/// compute level in the row loop, store level outside of it. It is also Jangda 2020, Algorithm 4,
/// with inner tiles of one row: parallelograms inside an overlapped tile.)
std::vector<Level> GroupModel::levels(int row_dim) const {
    std::vector<Level> result(members_.size(), Level::Tile);
    if (row_dim < 0)
        return result;
    for (size_t m = 1; m < members_.size(); m++) {
        int moving = 0;  // dimensions
        bool row = true, keeps = false, may_move = false;
        const Node &node = graph_.nodes[static_cast<size_t>(nodes_[m])];
        for (size_t d = 0; d < alignment_.region[m].size(); d++) {
            const Coordinate &c = alignment_.region[m][d];
            const bool unknown = c.iterator < 0 && !c.distance.bounded();
            may_move |= c.range.size() > 1 && (unknown || (c.may_use >> row_dim & 1));
            if (c.iterator != row_dim)
                continue;
            const bool keeps_rows = c.distance.size() > c.num;
            const bool can_keep =
                std::all_of(node.stages.begin(), node.stages.end(),
                            [&](const StageCost &stage) { return bool(stage.loops_over[d]); });
            moving++;
            keeps |= keeps_rows;
            row &= c.num >= 1 && c.den == 1 && !c.turns && (can_keep || !keeps_rows);
        }
        // A window slides along one dimension.
        const bool slides = moving == 1 && !may_move;
        result[m] = moving > 0 && row && (slides || !keeps) ? Level::Row : Level::Tile;
    }
    for (size_t m = 1; m < members_.size(); m++) {  // consumers come first
        if (result[m] == Level::Row)
            continue;
        for (const Read &read : members_[m].reads) {
            if (read.buffer < static_cast<int>(members_.size())) {
                result[static_cast<size_t>(read.buffer)] = Level::Tile;
            }
        }
    }
    return result;
}

/// A scan or a histogram needs the dimensions that it has no loop over at once: no tile cuts them.
bool GroupModel::jumps_stay_whole(const Tiling &t) const {
    for (size_t m = 1; m < members_.size(); m++) {
        for (const Jumping &jump : members_[m].jumping) {
            const auto &loops_over =
                graph_.nodes[static_cast<size_t>(nodes_[m])].stages[jump.stage].loops_over;
            for (size_t d = 0; d < loops_over.size(); d++) {
                const Coordinate &c = alignment_.region[m][d];
                if (loops_over[d] || !moves(c))
                    continue;
                const size_t g = static_cast<size_t>(c.iterator);
                if (t.size[g] < extents()[g] || c.iterator == t.row_dim)
                    return false;
            }
        }
    }
    return true;
}

void GroupModel::add_compute(const Tiling &t, Cost &cost) const {
    const std::vector<Level> &levels = levels_of(t);
    double points = 0, needed = 0;
    work_.assign(members_.size(), {});
    for (size_t m = 0; m < members_.size(); m++) {
        const Region &r = regions_[m];
        const Member &member = members_[m];
        const double padded = std::ceil(r.row / member.lanes) * member.lanes / r.row;
        const double clocks =
            t.by_block && m == 0 ? clocks_from_registers_ : clocks_together(m, rows_[m], t);
        double arithmetic = r.total * (padded * clocks + add_blocks(m, t, padded));
        cost.updates += member.update_clocks;
        const bool transposed = is_transposed(m, t);
        for (const Jumping &jump : member.jumping)
            arithmetic +=
                (transposed ? jump.in_lanes : jump.clocks) *
                swept(m, graph_.nodes[static_cast<size_t>(nodes_[m])].stages[jump.stage], t);
        arithmetic += transposed ? r.total * transposition_clocks(m) : 0;
        work_[m].arithmetic = arithmetic;
        const bool has_tail =
            m > 0 || padded > 1 || (!counts_.empty() && counts_[0] == 1);  // or a length not known
        const bool is_point = levels[m] == Level::Row && r.fold == 1;  // without loops over points
        if (!member.starts && !is_point)
            work_[m].overhead +=
                r.total / r.row * (machine_.row_overhead + (has_tail ? machine_.tail_overhead : 0));
        if (levels[m] != Level::Block && !is_point)  // else its loops are unrolled
            work_[m].overhead +=
                (levels[m] == Level::Row ? steps_ : tiles_) * machine_.nest_overhead;
        const double mine = graph_.nodes[static_cast<size_t>(nodes_[m])].points();
        points += r.total;
        needed += std::min(mine, r.total);
    }
    cost.redundancy = needed > 0 ? points / needed - 1 : 0;
}

/// Whether consecutive rows of a buffer are not accessed in sequence, so that each is a separate
/// stream that starts with misses the prefetcher does not predict: parts of rows, and planes that
/// alternate row by row; planes of which a part is computed, likewise.
bool GroupModel::restarts(const std::vector<Coordinate> &region, const Tiling &t) const {
    for (size_t d = 0; d + 1 < counts_.size(); d++)
        if (counts_[d] > 1 && std::any_of(t.size.begin() + static_cast<long>(d) + 1, t.size.end(),
                                          [](int64_t size) { return size > 1; }))
            return true;
    if (t.row_dim < 0 || t.single_rows)
        return false;
    return std::any_of(region.begin(), region.end(), [&](const Coordinate &c) {
        return c.iterator > 0 && c.iterator != t.row_dim && c.iterator != t.unrolled &&
               t.size[static_cast<size_t>(c.iterator)] > 1;
    });
}

/// Parts of rows, those left out that are as long as a page: at its end, what foresees a stream stops anyway.
double GroupModel::parts_of_rows(const Region &r, double bytes) const {
    return std::max(0.0, r.total / r.run - r.total * bytes / support::cache::page_bytes);
}

/// Whether the processor begins with loads of a step before all of the one before is done.
bool GroupModel::sees_next_step() const {
    constexpr double window = 256;  // clocks
    double clocks = 0;
    for (const Activity &member : work_)
        clocks += member.arithmetic + member.overhead;
    return clocks <= window * steps_;
}

/// How often an input starts to stream in anew: for parts of rows, and for every row of a step, which stands still while
/// the other stages of the step compute theirs. (Stores wait for nothing: those of whole rows do not count.)
double GroupModel::starts(const Region &r, const External &input, const Tiling &t) const {
    const std::vector<Level> &levels = levels_of(t);
    const bool take_turns =
        std::find(levels.begin() + 1, levels.end(), Level::Row) != levels.end() &&
        !sees_next_step();
    return std::max(restarts(input.region, t) ? parts_of_rows(r, input.bytes) : 0,
                    take_turns ? steps_ * double(t.step()) : 0);
}

/// The member that an external buffer streams in for: those that are computed after it find it in the caches.
size_t GroupModel::first_reader(size_t external) const {
    for (size_t m = members_.size(); m-- > 0;)
        for (const Read &read : members_[m].reads)
            if (read.buffer == static_cast<int>(members_.size() + external))
                return m;
    return 0;
}

void GroupModel::add_inputs(const Tiling &t, Cost &cost) const {
    const size_t n = members_.size();
    double read = 0, sizes = 0;
    for (size_t e = 0; e < externals_.size(); e++) {
        const External &ext = externals_[e];
        Activity &reader = work_[first_reader(e)];
        const double all = regions_[n + e].total * ext.bytes;
        const double once = std::min(all, ext.size);
        read += all, sizes += ext.size;
        cost.live_bytes += once;
        reader.far += once / ext.from.rate;
        if (ext.size <= usable_l2 * static_cast<double>(machine_.l2_bytes))
            continue;
        const Region &r = regions_[n + e];
        // What neighboring tiles share is still in the cache; what is gone through again may not be.
        const double between = r.swept ? ext.size : std::min(ext.size, r.tile * ext.bytes);
        const bool gone = between > usable_l3 * static_cast<double>(machine_.l3_bytes);
        const double sweep = all / r.again;
        reader.far += std::max(0.0, sweep - once) / machine_.l3_rate +
                      (all - sweep) / (gone ? ext.from.rate : machine_.l3_rate);
        reader.overhead += std::max(starts(r, ext, t), unforeseen_parts(n + e, t)) * ext.from.start;
    }
    double by_blocks = 0;
    for (const Activity &member : work_)
        by_blocks += member.block_bytes;
    const bool in_l3 = sizes <= usable_l3 * static_cast<double>(machine_.l3_bytes);
    for (Activity &member : work_)
        if (by_blocks > read)
            member.far += (by_blocks - read) * (member.block_bytes / by_blocks) /
                          (in_l3 ? machine_.l3_rate : machine_.dram_rate);
}

void GroupModel::add_far_memory(const Tiling &t, Cost &cost) const {
    add_inputs(t, cost);
    for (size_t m = 1; m < members_.size(); m++) {
        const double bytes = regions_[m].tile * members_[m].bytes;
        if (levels_of(t)[m] == Level::Tile &&
            bytes > usable_l2 * static_cast<double>(machine_.l2_bytes))
            work_[m].overhead += unforeseen_parts(m, t) * beyond_l2(bytes).start;
    }
    const Node &out = graph_.nodes[static_cast<size_t>(nodes_[0])];
    const double stored = regions_[0].total * members_[0].bytes;
    const Far to = far(out.is_output ? 0 : stored);
    if (restarts(alignment_.region[0], t))
        work_[0].overhead += parts_of_rows(regions_[0], members_[0].bytes) * to.start;
    cost.live_bytes += stored;
    // A line is read before it is written, unless it bypasses the caches; every update reads and writes all.
    double passes = streams() ? 1 : 2;
    for (size_t s = members_[0].starts ? 2 : 1; s < out.stages.size(); s++)
        passes += out.stages[s].loops_over_all() ? 2 : 0;
    work_[0].far += passes * stored / to.rate;
}

/// The work of the busiest tasks relative to the mean: conditions of RDoms may leave more to some than to others.
double GroupModel::busiest() const {
    double most = 1;
    for (size_t m = 0; m < members_.size(); m++) {
        const auto &region = alignment_.region[m];
        for (const StageCost &stage : graph_.nodes[static_cast<size_t>(nodes_[m])].stages)
            for (size_t d = 0; d < region.size(); d++)
                if (moves(region[d]) && static_cast<size_t>(region[d].iterator) == outermost_)
                    most = std::max(most, stage.busiest[d]);
    }
    return most;
}

/// Clocks of one core for all tiles. What is computed as a whole before its readers is a phase of its own: the processor
/// sees too little of what comes to overlap the memory of one phase with the arithmetic of another.
double GroupModel::clocks_of_phases(const Tiling &t) const {
    // Cache accesses overlap with arithmetic, and far memory with both, but not perfectly: least where stages take turns
    // on processors that cannot load from L1 while lines come from L2 (Treibig 2009).
    auto clocks = [](const Activity &phase) {
        const double core = overlapped(phase.arithmetic, phase.near, 0.15) + phase.overhead;
        return overlapped(core, phase.far, 0.45);
    };
    Activity by_rows = work_[0];
    double total = 0;
    for (size_t m = 1; m < members_.size(); m++) {
        if (levels_of(t)[m] == Level::Tile)
            total += clocks(work_[m]);
        else
            by_rows += work_[m];
    }
    return total + clocks(by_rows);
}

void GroupModel::finish(const Tiling &t, Cost &cost) const {
    double tasks = 1;
    for (double count : counts_)
        tasks = std::max(tasks, count);
    const double active = std::min<double>(machine_.cores, tasks);
    cost.imbalance = std::ceil(tasks / active) * active / tasks;
    // Cores do not run at the same speed: on average, half a task remains at the end.
    if (active > 1)
        cost.imbalance += 0.25 * active / tasks + wait_for_last(tasks, active, busiest());
    Activity all;
    for (const Activity &member : work_)
        all += member;
    cost.arithmetic = all.arithmetic;
    cost.near_memory = all.near;
    cost.far_memory = all.far;
    const double launches = double(graph_.nodes[static_cast<size_t>(nodes_[0])].stages.size()) -
                            (members_[0].starts ? 1 : 0);
    const double launch =
        active > 1 ? launches * machine_.parallel_overhead + tasks * machine_.task_overhead / active
                   : 0;
    cost.overhead = all.overhead + launch;
    cost.total = clocks_of_phases(t) / active * cost.imbalance + launch + cost.updates;
    // Among equal plans, prefers the one with fewer tiles.
    cost.total += 1e-3 * tiles_;
}

Cost GroupModel::evaluate(const Tiling &tiling) const {
    Cost cost;
    memory_->tilings += static_cast<long>(members_.size());
    // The register blocks of updates have rows.
    const bool rows_of_update = reading_ > 0 && (tiling.block > 1 || tiling.unrolled >= 0);
    if (rows_of_update || !jumps_stay_whole(tiling) || (tiling.by_block && !has_block(tiling))) {
        cost.total = std::numeric_limits<double>::infinity();
        return cost;
    }
    measure(tiling);
    add_compute(tiling, cost);
    add_near_memory(tiling, cost);
    add_far_memory(tiling, cost);
    finish(tiling, cost);
    return cost;
}

}  // namespace Pipe::autoschedule
