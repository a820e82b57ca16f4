#include "autoschedule/gpu/kernel_model.h"

#include <algorithm>
#include <map>

#include "autoschedule/gpu/widths.h"

namespace Pipe::autoschedule {

using poly::Access;
using poly::Coordinate;
using poly::GroupEdge;

namespace {

/// Values of 4 bytes that the threads keep: more do not fit their registers.
constexpr double most_kept = 64;

/// Of f(x / 2), the element that a point needs among several that its thread keeps depends on where the tile begins: it is
/// not known which register that is.
bool is_between_points(const Coordinate &c, const std::vector<int64_t> &tile) {
    return c.den > 1 && width_in(c, tile) > 1;
}

/// Of a dimension without a bounded distance, as of channels that are read at c and at 3: each tile has all of it, if that
/// is not much.
bool is_short(const Coordinate &c) {
    constexpr int64_t few = 16;
    return c.range.bounded() && c.range.size() <= few;
}

bool moves_along(const Access &a, const Access &b) {
    return a.same_buffer(b) &&
           std::equal(a.coords.begin(), a.coords.end(), b.coords.begin(), b.coords.end(),
                      [](const Coordinate &x, const Coordinate &y) {
                          return x.iterator == y.iterator && x.num * y.den == y.num * x.den &&
                                 x.distance.bounded() == y.distance.bounded();
                      });
}

}  // namespace

KernelModel::KernelModel(const StageGraph &graph, const GPU &gpu, std::vector<int> nodes)
    : graph_(graph), gpu_(gpu), nodes_(std::move(nodes)) {
    std::sort(nodes_.rbegin(), nodes_.rend());
    align();
    if (!is_known_)
        return;
    for (size_t m = 0; m < nodes_.size(); m++) {
        for (const StageCost &stage : node(m).stages)
            for (size_t d = 0; m > 0 && d < node(m).extents.size(); d++)
                is_whole_[m][d] = is_whole_[m][d] || !stage.loops_over[d];
        work_.emplace_back();
        for (const StageCost &stage : node(m).stages) {
            StageWork work;
            work.instructions =
                stage.repeats * (stage.arithmetic.total() / std::max(1, node(m).bytes) + 1);
            for (const Access &load : stage.loads)
                add_to(work.windows, load, stage.repeats);
            work_.back().push_back(std::move(work));
        }
    }
    collect_externals();
}

int KernelModel::member(int node) const {
    auto at = std::find(nodes_.begin(), nodes_.end(), node);
    return at == nodes_.end() ? -1 : static_cast<int>(at - nodes_.begin());
}

bool KernelModel::reads(size_t reader, size_t m) const {
    const std::vector<Reads> &all = node(reader).reads;
    return std::any_of(all.begin(), all.end(), [&](const Reads &reads) {
        return static_cast<int>(reads.hull.func) == nodes_[m];
    });
}

void KernelModel::align() {
    std::vector<int> dims;
    std::vector<GroupEdge> edges;
    for (size_t m = 0; m < nodes_.size(); m++) {
        dims.push_back(node(m).dims());
        for (const Reads &reads : node(m).reads)
            if (int producer = member(static_cast<int>(reads.hull.func)); producer >= 0)
                edges.push_back({producer, static_cast<int>(m), &reads.hull});
    }
    alignment_ = poly::align(dims, edges);
    for (const std::vector<Coordinate> &region : alignment_.region) {
        is_whole_.emplace_back();
        for (const Coordinate &c : region) {
            is_whole_.back().push_back(!c.distance.bounded());
            is_known_ = is_known_ && (c.constant || is_short(c));
        }
    }
}

void KernelModel::add_to(std::vector<Window> &windows, const Access &load, double loads) {
    auto same = std::find_if(windows.begin(), windows.end(),
                             [&](const Window &w) { return moves_along(w.hull, load); });
    if (same == windows.end())
        same = windows.insert(same, Window{load});
    for (size_t d = 0; d < load.coords.size(); d++)
        poly::merge(same->hull.coords[d], load.coords[d]);
    same->loads += loads;
}

void KernelModel::collect_externals() {
    std::map<std::pair<int, int>, External> found;
    const std::vector<int64_t> one(extents().size(), 1);
    for (size_t m = 0; m < nodes_.size(); m++) {
        const double points = points_of(m, one);
        for (const StageWork &stage : work_[m])
            for (const Window &w : stage.windows) {
                if (member(static_cast<int>(w.hull.func)) >= 0)
                    continue;
                auto at = found.try_emplace({static_cast<int>(w.hull.func), w.hull.image},
                                            external_of(w.hull));
                add_to(at.first->second.windows, poly::compose(w.hull, alignment_.region[m]),
                       w.loads * points);
            }
    }
    for (auto &[key, e] : found)
        externals_.push_back(std::move(e));
}

KernelModel::External KernelModel::external_of(const Access &load) const {
    External e;
    e.bytes = load.bytes;
    if (load.image >= 0) {
        e.size = graph_.image_bytes[static_cast<size_t>(load.image)];
    } else {
        const Node &producer = graph_.nodes[static_cast<size_t>(load.func)];
        e.size = producer.points() * producer.bytes;
        e.in_l2 = e.size < 0.5 * static_cast<double>(gpu_.l2_bytes);
    }
    return e;
}

/// What a tile of the output needs of a member. Where an update has no loop over a dimension, all of it.
std::vector<double> KernelModel::region_of(size_t m, const std::vector<int64_t> &tile) const {
    std::vector<double> widths;
    for (size_t d = 0; d < alignment_.region[m].size(); d++)
        widths.push_back(is_whole_[m][d] ? static_cast<double>(node(m).extents[d])
                                         : width_in(alignment_.region[m][d], tile));
    return widths;
}

double KernelModel::points_of(size_t m, const std::vector<int64_t> &tile) const {
    double points = 1;
    for (size_t d = 0; d < alignment_.region[m].size(); d++)
        points *= is_whole_[m][d] ? static_cast<double>(node(m).extents[d])
                                  : width_in(alignment_.region[m][d], tile);
    return points;
}

bool KernelModel::is_sum(size_t m) const {
    if (m == 0 || !node(m).has_updates())
        return false;
    return std::all_of(node(m).stages.begin(), node(m).stages.end(),
                       [](const StageCost &s) { return s.loops_over_all(); }) &&
           std::all_of(alignment_.region[m].begin(), alignment_.region[m].end(),
                       [](const Coordinate &c) {
                           return c.distance.bounded() && width_of(c, 1) == 1 &&
                                  (c.iterator < 0 || c.num == c.den);
                       });
}

bool KernelModel::has_sums() const {
    for (size_t m = 1; m < size(); m++)
        if (is_sum(m))
            return true;
    return node(0).has_updates();
}

/// Registers of a thread for what it keeps of a member, each of 4 bytes.
double KernelModel::kept(size_t m, Level level, const BlockTiles &b) const {
    const bool all = m > 0 && level == Level::Block;
    const bool has_columns = all || (m == 0 && node(0).has_updates());
    return points_of(m, all ? b.column : b.at_once) *
           (has_columns ? static_cast<double>(b.block.columns()) : 1.0) *
           std::max(1.0, node(m).bytes / 4.0);
}

bool KernelModel::is_legal(const BlockTiles &b, const std::vector<Level> &levels) const {
    double all = node(0).has_updates() ? kept(0, Level::Block, b) : 0;
    for (size_t m = 1; m < size(); m++) {
        const bool may_be_tile = !is_sum(m);
        if (may_be_tile ? levels[m] == Level::Block : levels[m] == Level::Tile)
            return false;
        if (levels[m] == Level::Tile)
            continue;
        if (may_be_tile && node(m).has_updates())
            return false;
        for (size_t r = 1; r < size(); r++)
            if (reads(r, m) && levels[r] != Level::Thread && levels[r] != levels[m])
                return false;
        for (const Coordinate &c : alignment_.region[m])
            if (!c.distance.bounded() || is_between_points(c, b.at_once))
                return false;
        all += kept(m, levels[m], b);
    }
    return all <= most_kept;
}

Plan KernelModel::plan(const BlockTiles &b, const std::vector<Level> &levels,
                       const Cost &cost) const {
    Plan plan;
    plan.members = nodes_;
    plan.cost = cost;
    plan.slides.assign(size(), false);
    plan.tile = b.whole;
    plan.threads = b.block.threads;
    if (plan.threads.empty())  // of a Func without dimensions
        plan.threads = {1};
    plan.levels = levels;
    for (size_t m = 0; m < size(); m++) {
        plan.follows.emplace_back();
        for (const Coordinate &c : alignment_.region[m])
            plan.follows[m].push_back(c.iterator);
        std::vector<int64_t> sizes;
        for (double w : region_of(m, levels[m] == Level::Thread ? b.column : b.whole))
            sizes.push_back(static_cast<int64_t>(w));
        plan.extents.push_back(std::move(sizes));
        Rows rows;
        rows.count = m > 0 && levels[m] == Level::Tile ? rows_of_member(m, b) : 1;
        plan.rows.push_back(rows);
    }
    return plan;
}

}  // namespace Pipe::autoschedule
