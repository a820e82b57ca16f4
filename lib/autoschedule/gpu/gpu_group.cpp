#include "autoschedule/gpu/gpu_group.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "autoschedule/group_model.h"

namespace Pipe::autoschedule {

using poly::Access;
using poly::Coordinate;
using poly::GroupEdge;

namespace {

constexpr double sector = 32, warp = 32;
constexpr int64_t largest_block = 1024;
/// Registers of a thread, which nobody knows before ptxas: of a stencil, and per point that a thread computes.
constexpr double registers_base = 24, registers_per_point = 4;
/// Warps of a multiprocessor that hide the latency of memory; fewer where a thread has the loads of several points under
/// way.
constexpr double warps_wanted = 24, most_points_under_way = 4;
/// Instructions of a load besides itself: the address.
constexpr double load_instructions_gpu = 2;

double width_of(const Coordinate &c, int64_t tile) {
    const int64_t travel = c.iterator < 0 ? 0 : std::abs(c.num) * (tile - 1);
    return static_cast<double>((travel + c.distance.size() - 1) / c.den + 1);
}

/// What one block computes.
struct Block {
    std::vector<int64_t> threads, points;  ///< per dimension of the output
    int64_t tile(size_t d) const { return threads[d] * points[d]; }
    double thread_count() const {
        double n = 1;
        for (int64_t t : threads)
            n *= static_cast<double>(t);
        return n;
    }
};

class KernelModel {
  public:
    KernelModel(const StageGraph &graph, const GPU &gpu, std::vector<int> nodes)
        : graph_(graph), gpu_(gpu), nodes_(std::move(nodes)) {
        std::sort(nodes_.rbegin(), nodes_.rend());
        align();
        if (alignment_.constant)
            collect_externals();
    }

    bool constant() const { return alignment_.constant; }

    std::optional<Plan> best() const {
        std::optional<Plan> best;
        for (const Block &b : candidates()) {
            std::optional<Cost> cost = evaluate(b);
            if (cost && (!best || cost->total < best->cost.total))
                best = make_plan(b, *cost);
        }
        return best;
    }

  private:
    struct External {
        std::vector<Coordinate> region;
        bool aligned = true;
        double bytes = 1, size = 0;  ///< of an element, and of all that is read
        bool in_l2 = false;
    };

    const Node &node(size_t m) const { return graph_.nodes[static_cast<size_t>(nodes_[m])]; }
    const std::vector<int64_t> &extents() const { return node(0).extents; }

    int member(int n) const {
        auto at = std::find(nodes_.begin(), nodes_.end(), n);
        return at == nodes_.end() ? -1 : static_cast<int>(at - nodes_.begin());
    }

    void align() {
        std::vector<int> dims;
        std::vector<GroupEdge> edges;
        for (size_t m = 0; m < nodes_.size(); m++) {
            dims.push_back(node(m).dims());
            for (const Reads &reads : node(m).reads)
                if (int producer = member(static_cast<int>(reads.hull.func)); producer >= 0)
                    edges.push_back({producer, static_cast<int>(m), &reads.hull});
        }
        alignment_ = poly::align(dims, edges);
    }

    void collect_externals() {
        std::map<std::pair<int, int>, External> found;
        for (size_t m = 0; m < nodes_.size(); m++)
            for (const Reads &reads : node(m).reads) {
                if (member(static_cast<int>(reads.hull.func)) >= 0)
                    continue;
                External &e = found[{static_cast<int>(reads.hull.func), reads.hull.image}];
                add_external(e, poly::compose(reads.hull, alignment_.region[m]));
            }
        for (auto &[key, e] : found)
            externals_.push_back(std::move(e));
    }

    void add_external(External &e, const Access &load) const {
        const bool first = e.region.empty();
        for (size_t d = 0; d < load.coords.size(); d++) {
            if (first)
                e.region.push_back(load.coords[d]);
            else
                poly::merge(e.region[d], load.coords[d]);
            e.aligned &= e.region[d].distance.bounded();
        }
        e.bytes = load.bytes;
        if (load.image >= 0) {
            e.size = graph_.image_bytes[static_cast<size_t>(load.image)];
        } else {
            const Node &producer = graph_.nodes[static_cast<size_t>(load.func)];
            e.size = producer.points() * producer.bytes;
            e.in_l2 = e.size < 0.5 * static_cast<double>(gpu_.l2_bytes);
        }
    }

    /// Elements per dimension that a tile needs.
    std::vector<double> region(const std::vector<Coordinate> &coords, const Block &b) const {
        std::vector<double> widths;
        for (const Coordinate &c : coords) {
            const double most = static_cast<double>(std::min<int64_t>(c.range.size(), 1 << 30));
            const bool known = c.distance.bounded();
            const int64_t tile =
                known && c.iterator >= 0 ? b.tile(static_cast<size_t>(c.iterator)) : 1;
            widths.push_back(known ? std::min(most, width_of(c, tile)) : most);
        }
        return widths;
    }

    static double product(const std::vector<double> &widths) {
        double n = 1;
        for (double w : widths)
            n *= w;
        return n;
    }

    std::vector<Block> candidates() const {
        const std::vector<size_t> dims = thread_dimensions(extents());
        std::vector<Block> all;
        Block one{std::vector<int64_t>(extents().size(), 1),
                  std::vector<int64_t>(extents().size(), 1)};
        if (!dims.empty() && dims[0] > 0)  // a few contiguous elements: all by one thread
            for (size_t d = 0; d < dims[0]; d++)
                one.points[d] = extents()[d];
        if (dims.empty())
            return {one};
        for (int64_t tx : {8, 16, 32, 64, 128, 256})
            for (int64_t ty : {1, 2, 4, 8, 16, 32})
                for (int64_t points : {1, 2, 4, 8}) {
                    Block b = one;
                    const bool flat = dims.size() < 2;
                    if (tx * ty > 512 || tx * ty < 32 || (flat && ty > 1))
                        continue;
                    if (has_thread_members() && points > 1)
                        continue;
                    b.threads[dims[0]] = tx;
                    b.threads[flat ? dims[0] : dims[1]] = flat ? tx : ty;
                    b.points[flat ? dims[0] : dims[1]] *= points;
                    all.push_back(std::move(b));
                }
        return all;
    }

    /// A member of which each point of the output reads one point of its own is computed by the thread.
    bool is_in_thread(size_t m) const {
        if (m == 0 || !node(m).has_updates())
            return false;
        return std::all_of(alignment_.region[m].begin(), alignment_.region[m].end(),
                           [](const Coordinate &c) {
                               return c.distance.bounded() && c.num == c.den && width_of(c, 1) == 1;
                           });
    }

    bool has_thread_members() const {
        for (size_t m = 1; m < nodes_.size(); m++)
            if (is_in_thread(m))
                return true;
        return false;
    }

    double blocks(const Block &b) const {
        double n = 1;
        for (size_t d = 0; d < extents().size(); d++)
            n *= std::ceil(static_cast<double>(extents()[d]) / static_cast<double>(b.tile(d)));
        return n;
    }

    /// Points of a member that the threads of a block pass, rows of threads filled up.
    double passes(size_t m, const std::vector<double> &widths, const Block &b) const {
        if (m == 0 || is_in_thread(m))
            return product(widths);
        const double threads = b.thread_count();
        const std::vector<size_t> dims = thread_dimensions(extents());
        double filled = 1;
        for (size_t d = 0; d < widths.size(); d++) {
            const double t = d < 2 && d < dims.size() ? static_cast<double>(b.threads[dims[d]]) : 1;
            filled *= std::ceil(widths[d] / t) * t;
        }
        return std::max(filled, threads);
    }

    static double instructions(const Node &n) {
        double sum = 0;
        for (const StageCost &s : n.stages) {
            const double all = s.arithmetic.total() / std::max(1, n.bytes) +
                               load_instructions_gpu * static_cast<double>(s.loads.size()) + 2;
            sum += all * s.repeats;
        }
        return sum;
    }

    std::optional<Cost> evaluate(const Block &b) const {
        Cost cost;
        const double count = blocks(b);
        double shared = 0, work = 0, shared_loads = 0, line_accesses = 0, needed = 0;
        for (size_t m = 0; m < nodes_.size(); m++) {
            const std::vector<double> widths = region(alignment_.region[m], b);
            const double points = passes(m, widths, b);
            work += points * instructions(node(m));
            needed += node(m).points() * instructions(node(m));
            line_accesses += points / warp * lines_per_warp(b) * global_loads(m);
            if (m == 0 || is_in_thread(m))
                continue;
            shared += product(widths) * node(m).bytes;
            for (const auto &[reader, rows] : readers_of(m))
                shared_loads +=
                    passes(reader, region(alignment_.region[reader], b), b) * rows * node(m).bytes;
        }
        if (shared > static_cast<double>(gpu_.shared_bytes_block))
            return std::nullopt;
        const double busy = utilization(b, shared, count);
        const double clocks =
            1 / (gpu_.clock_ghz * gpu_.multiprocessors);  // ns of the GPU per clock of one
        cost.arithmetic = count * work / gpu_.lanes * clocks / busy;
        cost.near_memory = count * (shared_loads / 128 + line_accesses) * clocks / busy;
        cost.far_memory = global_time(b, count, cost) / std::min(1.0, busy * 2);
        cost.overhead = gpu_.launch_ns * static_cast<double>(node(0).stages.size());
        cost.scratch_bytes = shared;
        cost.redundancy = needed > 0 ? count * work / needed - 1 : 0;
        cost.total = std::max({cost.arithmetic, cost.near_memory, cost.far_memory}) +
                     0.2 * (cost.arithmetic + cost.near_memory + cost.far_memory) + cost.overhead;
        return cost;
    }

    /// Lines of the first cache, 128 bytes each, that the threads of a warp touch in one load.
    double lines_per_warp(const Block &b) const {
        const std::vector<size_t> dims = thread_dimensions(extents());
        const double x = dims.empty() ? warp : static_cast<double>(b.threads[dims[0]]);
        return std::max(1.0, warp / x);
    }

    /// Loads from global memory for one point of member m.
    double global_loads(size_t m) const {
        double loads = 0;
        for (const StageCost &s : node(m).stages)
            loads +=
                s.repeats * static_cast<double>(
                                std::count_if(s.loads.begin(), s.loads.end(), [&](const Access &a) {
                                    return a.image >= 0 || member(static_cast<int>(a.func)) < 0;
                                }));
        return loads;
    }

    /// Members that read member m, and the loads of one of their points.
    std::vector<std::pair<size_t, double>> readers_of(size_t m) const {
        std::vector<std::pair<size_t, double>> result;
        for (size_t r = 0; r < nodes_.size(); r++)
            for (const StageCost &s : node(r).stages) {
                const auto loads =
                    std::count_if(s.loads.begin(), s.loads.end(), [&](const Access &a) {
                        return static_cast<int>(a.func) == nodes_[m];
                    });
                if (loads > 0)
                    result.emplace_back(r, static_cast<double>(loads) * s.repeats);
            }
        return result;
    }

    /// Fraction of the GPU's throughput that is reached.
    double utilization(const Block &b, double shared, double count) const {
        const double threads = b.thread_count();
        double points = 1;
        for (int64_t p : b.points)
            points *= static_cast<double>(p);
        const double registers = std::min(255.0, registers_base + registers_per_point * points);
        double per_sm = std::min<double>(gpu_.max_blocks, std::floor(gpu_.max_threads / threads));
        per_sm = std::min(per_sm,
                          std::floor(static_cast<double>(gpu_.registers) / (registers * threads)));
        if (shared > 0)
            per_sm = std::min(per_sm,
                              std::floor(static_cast<double>(gpu_.shared_bytes) / (shared + 1024)));
        per_sm = std::max(1.0, per_sm);
        const double warps = per_sm * std::ceil(threads / warp);
        const double at_once = per_sm * gpu_.multiprocessors;
        const double waves = count / at_once;
        return std::min(1.0, warps * std::min(points, most_points_under_way) / warps_wanted) *
               waves / std::ceil(waves);
    }

    double global_time(const Block &b, double count, Cost &cost) const {
        double dram = node(0).points() * node(0).bytes *
                      (2.0 * static_cast<double>(node(0).stages.size()) - 1);
        double l2 = dram;
        for (const External &e : externals_) {
            std::vector<double> widths = region(e.region, b);
            double tile_bytes = e.bytes;
            for (size_t d = 0; d < widths.size(); d++)
                tile_bytes *=
                    d == 0 ? (std::ceil(widths[0] * e.bytes / sector) + 0.5) * sector / e.bytes
                           : widths[d];
            if (!e.aligned)
                tile_bytes = std::min(tile_bytes, sector * static_cast<double>(b.tile(0)) *
                                                      product(tile_of(b)));
            l2 += count * tile_bytes;
            if (!e.in_l2)
                dram += e.size;
        }
        cost.live_bytes = dram;
        return std::max(dram / gpu_.dram_bytes_per_ns, l2 / gpu_.l2_bytes_per_ns);
    }

    std::vector<double> tile_of(const Block &b) const {
        std::vector<double> tile;
        for (size_t d = 1; d < extents().size(); d++)
            tile.push_back(static_cast<double>(b.tile(d)));
        return tile;
    }

    Plan make_plan(const Block &b, const Cost &cost) const {
        Plan plan;
        plan.members = nodes_;
        plan.cost = cost;
        plan.slides.assign(nodes_.size(), false);
        for (size_t d = 0; d < extents().size(); d++)
            plan.tile.push_back(b.tile(d));
        plan.threads = b.threads;
        for (size_t m = 0; m < nodes_.size(); m++) {
            plan.levels.push_back(is_in_thread(m) ? Level::Thread : Level::Tile);
            std::vector<int64_t> extents;
            for (double w : region(alignment_.region[m], b))
                extents.push_back(static_cast<int64_t>(w));
            plan.extents.push_back(std::move(extents));
        }
        return plan;
    }

    const StageGraph &graph_;
    const GPU &gpu_;
    std::vector<int> nodes_;  // output first
    poly::Alignment alignment_;
    std::vector<External> externals_;
};

}  // namespace

std::vector<size_t> thread_dimensions(const std::vector<int64_t> &extents) {
    constexpr int64_t few = 8;  // too few for a dimension of threads, if there is another
    std::vector<size_t> dims;
    for (size_t d = 0; d < extents.size() && dims.size() < 2; d++)
        if (extents[d] > few)
            dims.push_back(d);
    if (dims.empty() && !extents.empty())
        dims.push_back(static_cast<size_t>(std::max_element(extents.begin(), extents.end()) -
                                           extents.begin()));
    return dims;
}

std::optional<Plan> plan_kernel(const StageGraph &graph, const Machine &machine,
                                std::vector<int> members) {
    if (!is_group(graph, members))
        return std::nullopt;
    const int output = *std::max_element(members.begin(), members.end());
    for (int m : members)  // a scan or a scatter needs whole dimensions, which no block has
        for (const StageCost &stage : graph.nodes[static_cast<size_t>(m)].stages)
            if (m != output && !stage.loops_over_all())
                return std::nullopt;
    KernelModel model(graph, *machine.gpu, std::move(members));
    return model.constant() ? model.best() : std::nullopt;
}

}  // namespace Pipe::autoschedule
