#include "autoschedule/strategies/reuse_tiling.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace Pipe::autoschedule::reuse {

namespace {

constexpr int64_t cache_line_bytes = 64;
/// Loops with fewer iterations are neither tiled nor interchanged: kernels, channels.
constexpr int64_t few_iterations = 32;
/// Loop orders tried per segment, and tile sizes of all of them. The paper bounds neither.
constexpr size_t most_orders = 36, most_candidates = 20000;

int64_t lanes_of_column(const Node &output, const Machine &machine) {
    return std::max<int64_t>(1, machine.vector_bytes / output.widest);
}

/// Points of the output along each dimension in one iteration of the loop at `position`.
std::vector<int64_t> iteration_box(const TileView &view, const Schedule &s, int position,
                                   const Machine &machine) {
    const int64_t lanes = lanes_of_column(view.output(), machine);
    std::vector<int64_t> box(s.tile.size());
    for (int p = 0; p < s.order.size(); p++) {
        const size_t d = static_cast<size_t>(s.order.points[static_cast<size_t>(p)]);
        box[d] = p < position ? s.tile[d] : d == 0 ? std::min(lanes, s.tile[d]) : 1;
    }
    return box;
}

/// How often the loop at `position` is iterated over all tiles.
double iterations_of(const TileView &view, const Schedule &s, const std::vector<int64_t> &box) {
    double n = 1;
    for (size_t d = 0; d < box.size(); d++)
        n *= static_cast<double>(ceil_div(view.output().extents[d], s.tile[d])) *
             static_cast<double>(ceil_div(s.tile[d], box[d]));
    return n;
}

double loop_iterations_per_point(const Node &node) {
    double n = 0;
    for (const StageCost &stage : node.stages)
        n += stage.repeats;
    return n;
}

/// The buffer of one member.
struct BufferSize {
    double bytes = 0;
    bool folds = false;  ///< compute and store level are not the same
};

/// Along the dimension of the compute loop, a folded buffer has only what one iteration needs.
BufferSize buffer_of(const TileView &view, size_t m, const Schedule &s, const Machine &machine) {
    const Levels &levels = s.levels[m];
    const std::vector<int64_t> stored = extents_at(view, m, s, levels.store, machine);
    const std::vector<int64_t> computed = extents_at(view, m, s, levels.compute, machine);
    BufferSize size{static_cast<double>(view.node(m).bytes), levels.compute < levels.store};
    for (size_t d = 0; d < stored.size(); d++) {
        const bool folds = size.folds && view.moves_with(m, d) ==
                                             s.order.points[static_cast<size_t>(levels.compute)];
        size.bytes *= folds ? static_cast<double>(std::bit_ceil(static_cast<uint64_t>(computed[d])))
                            : static_cast<double>(stored[d]);
    }
    return size;
}

/// Loads of one stage, weighted.
class Loads {
  public:
    Loads(const TileView &view, const Schedule &schedule, const std::vector<BufferSize> &buffers,
          const Machine &machine)
        : view_(view), schedule_(schedule), buffers_(buffers), machine_(machine) {}

    /// With the loop over columns inside of its level, the prefetcher follows the rows (equation 6);
    /// else every element counts (equation 13). `box`: what one of `iterations` computes.
    double of(size_t m, double evaluations, const std::vector<int64_t> &box,
              double iterations) const {
        const Node &node = view_.node(m);
        const bool whole_rows = m == 0 || schedule_.levels[m].compute > schedule_.order.position(0);
        double sum = 0;
        if (whole_rows) {
            for (size_t i = 0; i < node.reads.size(); i++)
                sum += weight(node.reads[i].hull) *
                       view_.elements(view_.read_region(m, i), box, 1) * iterations;
            return sum;
        }
        for (const StageCost &stage : node.stages)
            for (const poly::Access &load : stage.loads)
                sum += load.func == node.id ? 0 : weight(load) * evaluations;
        return sum;
    }

  private:
    double weight(const poly::Access &load) const {
        const int func = static_cast<int>(load.func);
        if (func < 0)
            return load_weight(view_.graph().image_bytes[static_cast<size_t>(load.image)],
                               machine_);
        if (const int m = view_.member(func); m >= 0)
            return load_weight(buffers_[static_cast<size_t>(m)].bytes, machine_);
        const Node &node = view_.graph().nodes[static_cast<size_t>(func)];
        return load_weight(node.points() * node.bytes, machine_);
    }

    const TileView &view_;
    const Schedule &schedule_;
    const std::vector<BufferSize> &buffers_;
    const Machine &machine_;
};

/// Multiples of the cache line and the vector, largest first.
std::vector<int64_t> column_sizes(const Node &output, int64_t lanes) {
    const int64_t extent = output.extents[0];
    const int64_t unit = std::max(lanes, cache_line_bytes / output.widest);
    std::vector<int64_t> sizes = {extent};
    for (int64_t size = std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(1, extent - 1)));
         size >= unit; size /= 2)
        if (size % unit == 0)
            sizes.push_back(size);
    return sizes;
}

/// Powers of two that are not smaller than the overlap (equation 15), largest first; an equal share
/// for every thread.
std::vector<int64_t> other_sizes(int64_t extent, int64_t overlap, int threads) {
    if (extent <= few_iterations)
        return {extent};
    std::vector<int64_t> sizes = {extent};
    const int64_t share = ceil_div(extent, int64_t(threads));
    for (int64_t size = std::bit_floor(static_cast<uint64_t>(extent - 1)); size >= 1; size /= 2) {
        if (share < sizes.back() && share > size)
            sizes.push_back(share);
        sizes.push_back(size);
    }
    std::erase_if(sizes, [&](int64_t size) { return size < std::min(overlap, extent); });
    return sizes;
}

/// All orders of `dims`, beginning with the given one.
std::vector<std::vector<int>> permutations(std::vector<int> dims) {
    std::vector<std::vector<int>> result;
    std::sort(dims.begin(), dims.end());
    do
        result.push_back(dims);
    while (result.size() < most_orders && std::next_permutation(dims.begin(), dims.end()));
    return result;
}

/// Every permutation of the loops over points with that of the loops over tiles. Short loops are
/// innermost, then the column, which is the vector.
std::vector<LoopOrder> loop_orders(const Node &output) {
    std::vector<int> few, many, all;
    for (int d = 0; d < output.dims(); d++) {
        all.push_back(d);
        if (d > 0)
            (output.extents[static_cast<size_t>(d)] <= few_iterations ? few : many).push_back(d);
    }
    few.push_back(0);
    std::vector<LoopOrder> orders;
    for (const std::vector<int> &points : permutations(many)) {
        for (const std::vector<int> &tiles : permutations(all)) {
            LoopOrder order{few, tiles};
            order.points.insert(order.points.end(), points.begin(), points.end());
            orders.push_back(std::move(order));
            if (orders.size() >= most_orders)
                return orders;
        }
    }
    return orders;
}

/// Walks over the tile sizes of every loop order.
class SizeSearch {
  public:
    SizeSearch(const TileView &view, const Machine &machine, Tiled &best, bool &found)
        : view_(view), machine_(machine), best_(best), found_(found),
          orders_(loop_orders(view.output())) {
        const std::vector<int64_t> overlaps = largest_overlaps(view);
        sizes_.push_back(column_sizes(view.output(), lanes_of_column(view.output(), machine)));
        for (size_t d = 1; d < overlaps.size(); d++)
            sizes_.push_back(other_sizes(view.output().extents[d], overlaps[d], machine.cores));
        while (candidates() > most_candidates)
            thin_out();
    }

    void run() {
        for (const LoopOrder &order : orders_)
            run(order);
    }

  private:
    void run(const LoopOrder &order) {
        Schedule schedule;
        schedule.order = order;
        schedule.levels = stage_levels(view_, order);
        schedule.tile.resize(sizes_.size());
        enter(schedule, 0);
    }

    size_t candidates() const {
        size_t n = orders_.size();
        for (const std::vector<int64_t> &sizes : sizes_)
            n *= sizes.size();
        return n;
    }

    /// Every other size of the dimension that has most.
    void thin_out() {
        auto most =
            std::max_element(sizes_.begin(), sizes_.end(),
                             [](const auto &a, const auto &b) { return a.size() < b.size(); });
        for (size_t i = 1; i < most->size(); i++)
            most->erase(most->begin() + static_cast<long>(i));
    }

    void enter(Schedule &schedule, size_t dim) {
        if (dim == sizes_.size()) {
            if (has_parallelism(schedule))
                compare(schedule);
            return;
        }
        for (int64_t size : sizes_[dim]) {
            schedule.tile[dim] = size;
            enter(schedule, dim + 1);
        }
    }

    /// Equation 14. A dimension that is too short for it is not parallel.
    bool has_parallelism(const Schedule &s) const {
        const auto count = [&](size_t d) { return ceil_div(view_.output().extents[d], s.tile[d]); };
        const auto most = [&](size_t d) {
            return ceil_div(view_.output().extents[d], sizes_[d].back());
        };
        for (size_t i = s.order.tiles.size(); i-- > 0;) {
            const size_t d = static_cast<size_t>(s.order.tiles[i]);
            if (most(d) >= machine_.cores || (i == 0 && most(d) > 1))
                return count(d) >= std::min<int64_t>(machine_.cores, most(d));
            if (count(d) > 1)
                return false;
        }
        return true;
    }

    void compare(const Schedule &schedule) {
        const ScheduleCost cost = evaluate(view_, schedule, machine_);
        best_.evaluated++;
        if (cost.unfolded_bytes > static_cast<double>(machine_.l2_bytes))
            return;
        if (found_ && cost.total() >= best_.cost.total())
            return;
        best_.schedule = schedule;
        best_.cost = cost;
        found_ = true;
    }

    const TileView &view_;
    const Machine &machine_;
    Tiled &best_;
    bool &found_;
    std::vector<LoopOrder> orders_;
    std::vector<std::vector<int64_t>> sizes_;  // per dimension
};

}  // namespace

double load_weight(double buffer_bytes, const Machine &machine) {
    return buffer_bytes > static_cast<double>(machine.l3_bytes)   ? 40
           : buffer_bytes > static_cast<double>(machine.l2_bytes) ? 25
           : buffer_bytes > static_cast<double>(machine.l1_bytes) ? 10
                                                                  : 1;
}

std::vector<int64_t> extents_at(const TileView &view, size_t m, const Schedule &schedule,
                                int position, const Machine &machine) {
    return view.extents(view.region(m), iteration_box(view, schedule, position, machine));
}

ScheduleCost evaluate(const TileView &view, const Schedule &schedule, const Machine &machine) {
    ScheduleCost cost;
    std::vector<BufferSize> buffers(view.size());
    for (size_t m = 1; m < view.size(); m++) {
        buffers[m] = buffer_of(view, m, schedule, machine);
        (buffers[m].folds ? cost.folded_bytes : cost.unfolded_bytes) += buffers[m].bytes;
    }
    const Loads loads(view, schedule, buffers, machine);
    for (size_t m = 0; m < view.size(); m++) {
        const Node &node = view.node(m);
        const int level = m == 0 ? schedule.order.size() : schedule.levels[m].store;
        const std::vector<int64_t> box = iteration_box(view, schedule, level, machine);
        const double iterations = iterations_of(view, schedule, box);
        const double repeats = loop_iterations_per_point(node);
        const double root = node.points() * repeats;
        const double evaluations =
            m == 0 ? root : view.elements(view.region(m), box) * iterations * repeats;
        cost.evaluations += evaluations;
        cost.root += root;
        cost.loads += loads.of(m, evaluations, box, iterations);
    }
    return cost;
}

std::optional<Tiled> analyze_tiling(const TileView &view, const Machine &machine) {
    Tiled best;
    bool found = false;
    SizeSearch(view, machine, best, found).run();
    return found ? std::optional(best) : std::nullopt;
}

}  // namespace Pipe::autoschedule::reuse
