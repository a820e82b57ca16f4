#include "autoschedule/gpu/gpu_group.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "autoschedule/gpu/gpu_block.h"
#include "autoschedule/gpu/gpu_cost.h"
#include "autoschedule/group_model.h"

namespace Pipe::autoschedule {

using poly::Access;
using poly::Coordinate;
using poly::GroupEdge;

namespace {

constexpr double sector = 32;
/// Registers of a thread, which nobody knows before ptxas: of a stencil, and per value that a thread keeps.
constexpr double registers_base = 28, registers_per_value = 1.5;
/// Instructions of a load or store besides itself, and of a step of a loop over the elements of a member.
constexpr double access_instructions = 1.5, step_instructions = 10;
/// Values that the threads keep: more do not fit their registers.
constexpr double most_kept = 64;

double width_of(const Coordinate &c, int64_t tile) {
    const int64_t travel = c.iterator < 0 ? 0 : std::abs(c.num) * (tile - 1);
    return static_cast<double>((travel + c.distance.size() - 1) / c.den + 1);
}

double product(const std::vector<double> &widths) {
    double n = 1;
    for (double w : widths)
        n *= w;
    return n;
}

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
        std::optional<Choice> best;
        for (const Block &b : block_candidates(extents()))
            for (bool in_threads : {false, true})
                consider(best, {b, levels_of(b, in_threads), {}});
        if (!best)
            return std::nullopt;
        for (size_t m = 1; m < nodes_.size(); m++) {  // each member once more, by itself
            Choice other = *best;
            other.levels[m] = other.levels[m] == Level::Thread ? Level::Tile : Level::Thread;
            if (is_legal(other.block, other.levels))
                consider(best, other);
        }
        return make_plan(*best);
    }

  private:
    /// A block, and where each member is computed: by its threads together, or by each for itself.
    struct Choice {
        Block block;
        std::vector<Level> levels;
        Cost cost;
    };

    void consider(std::optional<Choice> &best, Choice choice) const {
        std::optional<Cost> cost = evaluate(choice.block, choice.levels);
        if (!cost || (best && best->cost.total <= cost->total))
            return;
        choice.cost = *cost;
        best = std::move(choice);
    }

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

    /// Elements per dimension that a tile of the output needs.
    static std::vector<double> region(const std::vector<Coordinate> &coords,
                                      const std::vector<int64_t> &tile) {
        std::vector<double> widths;
        for (const Coordinate &c : coords) {
            const double most = static_cast<double>(std::min<int64_t>(c.range.size(), 1 << 30));
            const bool known = c.distance.bounded();
            const int64_t points =
                known && c.iterator >= 0 ? tile[static_cast<size_t>(c.iterator)] : 1;
            widths.push_back(known ? std::min(most, width_of(c, points)) : most);
        }
        return widths;
    }

    static std::vector<int64_t> tile_of_block(const Block &b) {
        std::vector<int64_t> tile;
        for (size_t d = 0; d < b.threads.size(); d++)
            tile.push_back(b.tile(d));
        return tile;
    }
    /// What one thread computes at a time: one of its columns.
    static std::vector<int64_t> tile_of_thread(const Block &b) {
        std::vector<int64_t> tile = b.points;
        if (b.x)
            tile[*b.x] = 1;
        return tile;
    }

    /// A member that updates one point of its own for each point of the output: the thread keeps the sums.
    bool must_be_in_thread(size_t m) const {
        if (m == 0 || !node(m).has_updates())
            return false;
        return std::all_of(alignment_.region[m].begin(), alignment_.region[m].end(),
                           [](const Coordinate &c) {
                               return c.distance.bounded() && c.num == c.den && width_of(c, 1) == 1;
                           });
    }

    bool is_legal(const Block &b, const std::vector<Level> &levels) const {
        double kept = 0;
        for (size_t m = 1; m < nodes_.size(); m++) {
            if (levels[m] != Level::Thread && must_be_in_thread(m))
                return false;
            if (levels[m] != Level::Thread)
                continue;
            for (size_t r = 1; r < nodes_.size(); r++)
                if (levels[r] != Level::Thread && reads(r, m))
                    return false;
            for (const Coordinate &c : alignment_.region[m])
                if (!c.distance.bounded())
                    return false;
            kept += product(region(alignment_.region[m], tile_of_thread(b)));
        }
        return kept <= most_kept;
    }

    /// All members that can be in the threads' registers are, or only those that must.
    std::vector<Level> levels_of(const Block &b, bool in_threads) const {
        std::vector<Level> levels(nodes_.size(), Level::Tile);
        for (size_t m = 1; m < nodes_.size(); m++)
            if (must_be_in_thread(m))
                levels[m] = Level::Thread;
        if (in_threads)
            for (size_t m = 1; m < nodes_.size(); m++) {
                std::vector<Level> more = levels;
                more[m] = Level::Thread;
                if (is_legal(b, more))
                    levels = more;
            }
        return levels;
    }

    double blocks(const Block &b) const {
        double n = 1;
        for (size_t d = 0; d < extents().size(); d++)
            n *= std::ceil(static_cast<double>(extents()[d]) / static_cast<double>(b.tile(d)));
        return n;
    }

    /// How the threads of a block go through a member.
    struct Steps {
        double passes = 1;  ///< of each thread, one after the other
        std::vector<int64_t>
            points;  ///< that a thread computes in each, per dimension of the member
    };
    Steps steps_of(size_t m, const Block &b, const std::vector<Level> &levels) const {
        Steps steps;
        if (m == 0 || levels[m] == Level::Thread) {
            for (double w : region(alignment_.region[m], tile_of_thread(b)))
                steps.points.push_back(static_cast<int64_t>(w));
            steps.passes = static_cast<double>(b.columns());
            return steps;
        }
        const std::vector<double> widths = region(alignment_.region[m], tile_of_block(b));
        steps.points.assign(widths.size(), 1);
        for (size_t d = 0; d < widths.size(); d++) {
            const double threads = d == 0 && b.x   ? static_cast<double>(b.threads[*b.x])
                                   : d == 1 && b.y ? static_cast<double>(b.threads[*b.y])
                                                   : 1;
            if (d == 1)
                steps.points[d] = rows_of_member(m, b);
            steps.passes *= std::ceil(widths[d] / (threads * static_cast<double>(steps.points[d])));
        }
        return steps;
    }

    /// Rows of a member in shared memory that a thread computes together, because they share what they load.
    int64_t rows_of_member(size_t m, const Block &b) const {
        if (node(m).dims() < 2 || node(m).has_updates())
            return 1;
        double window = 1;
        for (const Reads &reads : node(m).reads)
            for (const Coordinate &c : reads.hull.coords)
                if (c.iterator == 1 && c.distance.bounded())
                    window = std::max(window, width_of(c, 1));
        return window > 1 ? std::min<int64_t>(b.rows(), 4) : 1;
    }

    /// Elements that a thread loads of one buffer for these points of member m: no more than there are in the region that
    /// it reads, because points share what they load.
    double loads_of(size_t m, const Reads &reads, const std::vector<int64_t> &points) const {
        double count = 0, all = 1;
        for (int64_t p : points)
            all *= static_cast<double>(p);
        for (const StageCost &s : node(m).stages)
            count += s.repeats * static_cast<double>(std::count_if(
                                     s.loads.begin(), s.loads.end(),
                                     [&](const Access &a) { return a.same_buffer(reads.hull); }));
        return std::min(count * all, product(region(reads.hull.coords, points)));
    }

    static double arithmetic_of(const Node &n) {
        double sum = 0;
        for (const StageCost &s : n.stages)
            sum += s.repeats * (s.arithmetic.total() / std::max(1, n.bytes) + 1);
        return sum;
    }

    std::optional<Cost> evaluate(const Block &b, const std::vector<Level> &levels) const {
        KernelWork work;
        work.blocks = blocks(b);
        work.threads = b.thread_count();
        work.launches = static_cast<double>(node(0).stages.size());
        work.waits = 0;
        double kept = 0, needed = 0, computed = 0;
        for (size_t m = 0; m < nodes_.size(); m++)
            if (levels[m] == Level::Tile || m == 0)
                work.waits += 1;
        for (size_t m = 0; m < nodes_.size(); m++) {
            add_member(m, b, levels, work);
            needed += node(m).points();
            computed += product(region(alignment_.region[m], tile_of_block(b))) * work.blocks;
            if (m == 0 || levels[m] == Level::Thread) {
                kept += product(region(alignment_.region[m], tile_of_thread(b)));
                continue;
            }
            work.shared_bytes +=
                product(region(alignment_.region[m], tile_of_block(b))) * node(m).bytes;
            work.barriers++;
        }
        if (work.shared_bytes > static_cast<double>(gpu_.shared_bytes_block))
            return std::nullopt;
        work.registers = std::min(255.0, registers_base + registers_per_value * kept);
        add_traffic(b, work);
        Cost cost = kernel_cost(gpu_, work);
        cost.redundancy = needed > 0 ? computed / needed - 1 : 0;
        return cost;
    }

    void add_member(size_t m, const Block &b, const std::vector<Level> &levels,
                    KernelWork &work) const {
        const Steps steps = steps_of(m, b, levels);
        double points = 1;
        for (int64_t p : steps.points)
            points *= static_cast<double>(p);
        double global = 0, shared = 0;  // elements that a thread loads and stores in a step
        for (const Reads &reads : node(m).reads) {
            const double loads = loads_of(m, reads, steps.points);
            const int producer = member(static_cast<int>(reads.hull.func));
            if (producer < 0 || producer == 0)
                global += loads;
            else if (levels[static_cast<size_t>(producer)] == Level::Tile)
                shared += loads * reads.hull.bytes / 4;
        }
        const double stores = m > 0 && levels[m] == Level::Thread ? 0 : points;
        if (m == 0)
            global += stores;
        else
            shared += stores * node(m).bytes / 4;
        const double times = steps.passes * work.threads;
        work.instructions += times * (arithmetic_of(node(m)) * points +
                                      access_instructions * (global + shared) + step_instructions);
        work.shared_loads += times * shared;
        work.global_loads += times / warp * global * lines_per_warp(b);
        if (m > 0 && levels[m] == Level::Tile && global > 0)
            work.waits += steps.passes - 1;
    }

    /// Lines of the first cache that the threads of a warp touch in one load.
    static double lines_per_warp(const Block &b) {
        const double x = b.x ? static_cast<double>(b.threads[*b.x]) : warp;
        return std::max(1.0, warp / x);
    }

    /// Whether member r reads member m.
    bool reads(size_t r, size_t m) const {
        return std::any_of(node(r).reads.begin(), node(r).reads.end(), [&](const Reads &reads) {
            return static_cast<int>(reads.hull.func) == nodes_[m];
        });
    }

    void add_traffic(const Block &b, KernelWork &work) const {
        work.dram_bytes = node(0).points() * node(0).bytes *
                          (2.0 * static_cast<double>(node(0).stages.size()) - 1);
        work.l2_bytes = work.dram_bytes;
        for (const External &e : externals_) {
            const std::vector<double> widths = region(e.region, tile_of_block(b));
            double tile_bytes = e.bytes;
            for (size_t d = 0; d < widths.size(); d++)
                tile_bytes *=
                    d == 0 ? (std::ceil(widths[0] * e.bytes / sector) + 0.5) * sector / e.bytes
                           : widths[d];
            if (!e.aligned) {
                double points = sector;
                for (int64_t t : tile_of_block(b))
                    points *= static_cast<double>(t);
                tile_bytes = std::min(tile_bytes, points);
            }
            work.l2_bytes += work.blocks * tile_bytes;
            if (!e.in_l2)
                work.dram_bytes += e.size;
        }
    }

    Plan make_plan(const Choice &choice) const {
        const Block &b = choice.block;
        Plan plan;
        plan.members = nodes_;
        plan.cost = choice.cost;
        plan.slides.assign(nodes_.size(), false);
        plan.tile = tile_of_block(b);
        plan.threads = b.threads;
        plan.levels = choice.levels;
        for (size_t m = 0; m < nodes_.size(); m++) {
            std::vector<int64_t> sizes;
            const bool in_thread = choice.levels[m] == Level::Thread;
            for (double w :
                 region(alignment_.region[m], in_thread ? tile_of_thread(b) : tile_of_block(b)))
                sizes.push_back(static_cast<int64_t>(w));
            plan.extents.push_back(std::move(sizes));
            Rows rows;
            rows.count = m > 0 && !in_thread ? rows_of_member(m, b) : 1;
            plan.rows.push_back(rows);
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

std::optional<Plan> plan_kernel(const StageGraph &graph, const Machine &machine,
                                std::vector<int> members) {
    const int output = *std::max_element(members.begin(), members.end());
    const bool has_updates = graph.nodes[static_cast<size_t>(output)].has_updates();
    if (members.size() > most_members || !is_group(graph, members) ||
        (members.size() > 1 && has_updates))
        return std::nullopt;
    for (int m : members)  // a scan or a scatter needs whole dimensions, which no block has
        for (const StageCost &stage : graph.nodes[static_cast<size_t>(m)].stages)
            if (m != output && !stage.loops_over_all())
                return std::nullopt;
    KernelModel model(graph, *machine.gpu, std::move(members));
    return model.constant() ? model.best() : std::nullopt;
}

}  // namespace Pipe::autoschedule
