// KernelModel: what the threads of a kernel do.
#include <algorithm>
#include <cmath>

#include "autoschedule/gpu/kernel_model.h"
#include "autoschedule/gpu/reduction_threads.h"
#include "autoschedule/gpu/widths.h"

namespace Pipe::autoschedule {

using poly::Access;
using poly::Coordinate;

namespace {

constexpr double sector = 32, line = 128;  // bytes
/// Of the threads of a warp that load at coordinates that depend on data, those whose elements lie in lines of their own.
constexpr double apart = 0.25;
/// Registers of a thread, which nobody knows before ptxas: of a stencil, for each value that a thread keeps, and for each that
/// it loads at a time; and of sums. Fitted to what ptxas says of 2300 kernels.
constexpr double registers_base = 24, registers_per_value = 0.3, registers_per_load = 0.42;
constexpr double most_values = 64, most_loaded = 48;
constexpr double registers_of_sums = 64, registers_per_sum = 0.4;
/// Instructions of a load or store besides itself, and of a step of a loop over the elements of a member.
constexpr double access_instructions = 1.5, step_instructions = 10;

/// Of what the model counts, what takes time: instructions that ptxas does not save, and accesses that are not hidden. Sums are
/// multiply-adds of which nothing can be saved. (Fitted; see gpu_cost.cpp.)
struct Left {
    double instructions, accesses;
};
constexpr Left left_of_stencils{0.25, 0.5}, left_of_sums{1, 0.2};
constexpr double few_terms = 32;

bool depends_on_data(const Coordinate &c) {
    return !c.distance.bounded() || (c.iterator < 0 && c.may_use != 0);
}

double lanes_along_x(const BlockTiles &b) {
    return b.block.x ? std::min(warp, static_cast<double>(b.block.threads[*b.block.x])) : warp;
}

/// Lines of the first cache that the threads of a warp touch in one load.
double lines_of(const Access &load, int lane_dim, const BlockTiles &b) {
    const double lanes = lanes_along_x(b);
    double lines = 1;  // for all lanes the same element
    for (size_t d = 0; d < load.coords.size() && lane_dim >= 0; d++) {
        const Coordinate &c = load.coords[d];
        const double step = static_cast<double>(std::abs(c.num)) / static_cast<double>(c.den);
        double touched = 1;
        if (c.iterator == lane_dim)
            touched = d == 0 ? std::ceil(lanes * step * load.bytes / line) : lanes;
        else if (c.iterator < 0 && ((c.may_use >> lane_dim) & 1))
            touched = lanes * apart;
        lines = std::max(lines, std::min(lanes, touched));
    }
    return lines * warp / lanes;
}

}  // namespace

double KernelModel::Steps::count() const {
    double n = 1;
    for (int64_t p : points)
        n *= static_cast<double>(p);
    return n;
}

KernelModel::Steps KernelModel::steps_of(size_t m, size_t stage, const BlockTiles &b,
                                         Level level) const {
    Steps steps;
    if (m > 0 && level == Level::Tile) {
        steps_of_tile(m, stage, b, steps);
        return steps;
    }
    for (double w : region_of(m, b.at_once))
        steps.points.push_back(static_cast<int64_t>(w));
    for (size_t d = 0; m == 0 && d < steps.points.size(); d++)
        if (!node(0).stages[stage].loops_over[d])
            steps.points[d] = 1;
    steps.passes = b.block.serial_steps();
    if (m == 0 ? stage > 0 : level == Level::Block)
        add_columns(m, b, steps);
    else
        steps.passes *= static_cast<double>(b.block.columns());
    return steps;
}

void KernelModel::add_columns(size_t m, const BlockTiles &b, Steps &steps) const {
    for (size_t d = 0; d < steps.points.size(); d++)
        if (b.block.x && alignment_.region[m][d].iterator == static_cast<int>(*b.block.x)) {
            steps.columns = static_cast<int>(d);
            steps.points[d] *= b.block.columns();
        }
}

/// The threads run along the first two dimensions that the stage has loops over.
void KernelModel::steps_of_tile(size_t m, size_t stage, const BlockTiles &b, Steps &steps) const {
    const std::vector<double> widths = region_of(m, b.whole);
    const std::vector<bool> &loops_over = node(m).stages[stage].loops_over;
    steps.points.assign(widths.size(), 1);
    int loops = 0;
    for (size_t d = 0; d < widths.size(); d++) {
        if (!loops_over[d])
            continue;
        const double threads =
            loops == 0 && b.block.x   ? static_cast<double>(b.block.threads[*b.block.x])
            : loops == 1 && b.block.y ? static_cast<double>(b.block.threads[*b.block.y])
                                      : 1;
        if (loops == 1)
            steps.points[d] = rows_of_member(m, b);
        steps.passes *= std::ceil(widths[d] / (threads * static_cast<double>(steps.points[d])));
        loops++;
    }
}

/// Rows of a member in shared memory that a thread computes together, because they share what they load.
int64_t KernelModel::rows_of_member(size_t m, const BlockTiles &b) const {
    if (node(m).dims() < 2 || node(m).has_updates())
        return 1;
    double window = 1;
    for (const Reads &reads : node(m).reads)
        for (const Coordinate &c : reads.hull.coords)
            if (c.iterator == 1 && c.distance.bounded())
                window = std::max(window, width_of(c, 1));
    return window > 1 ? std::min<int64_t>(b.block.rows(), 4) : 1;
}

/// The dimension of a member along which the threads of a warp lie; -1: none.
int KernelModel::lane_dim(size_t m, Level level, const BlockTiles &b) const {
    if (m > 0 && level == Level::Tile)
        return 0;
    const auto &region = alignment_.region[m];
    for (size_t d = 0; d < region.size(); d++)
        if (b.block.x && region[d].iterator == static_cast<int>(*b.block.x))
            return static_cast<int>(d);
    return -1;
}

std::optional<Cost> KernelModel::evaluate(const BlockTiles &b,
                                          const std::vector<Level> &levels) const {
    const KernelWork group = work_of_group(b, levels);
    if (group.shared_bytes > static_cast<double>(gpu_.shared_bytes_block))
        return std::nullopt;
    Cost cost = kernel_cost(gpu_, group);
    for (size_t stage = 1; stage < node(0).stages.size(); stage++)
        cost = one_after_the_other(cost, kernel_cost(gpu_, work_of_update(stage, b.block)));
    double needed = 0, computed = 0;
    for (size_t m = 0; m < size(); m++) {
        needed += node(m).points();
        computed += points_of(m, b.whole) * group.blocks;
    }
    cost.redundancy = needed > 0 ? computed / needed - 1 : 0;
    return cost;
}

/// Members in shared memory are computed one after the other; the output, with what its threads compute for themselves, at once.
struct KernelModel::Waits {
    double in_tiles = 0, of_points = 0;             ///< for loads
    double loads_in_tile = 0, loads_of_points = 0;  ///< of a thread at a time

    void add(const Loads &stage, bool in_tile) {
        if (in_tile) {
            in_tiles += stage.waits;
            loads_in_tile = std::max(loads_in_tile, stage.at_once);
        } else {
            of_points = std::max(of_points, stage.waits);
            loads_of_points += stage.at_once;
        }
    }
    double count() const { return in_tiles + of_points; }
    double loads() const { return std::max(loads_in_tile, loads_of_points); }
};

/// The kernel of the first stage of the output, and of the members.
KernelWork KernelModel::work_of_group(const BlockTiles &b, const std::vector<Level> &levels) const {
    KernelWork work;
    work.blocks = b.block.blocks(extents());
    work.threads = b.block.thread_count();
    Waits waits;
    double values = 0;
    // The output takes what such members keep, and keeps nothing besides.
    const bool takes_sums = std::find(levels.begin(), levels.end(), Level::Block) != levels.end();
    for (size_t m = 0; m < size(); m++) {
        const bool in_tile = m > 0 && levels[m] == Level::Tile;
        for (size_t stage = 0; stage < (m == 0 ? 1 : node(m).stages.size()); stage++)
            waits.add(add_stage(m, stage, b, levels, work), in_tile);
        if (in_tile) {
            work.shared_bytes += points_of(m, b.whole) * node(m).bytes;
            work.barriers += static_cast<double>(node(m).stages.size());
        } else if (m > 0 || !takes_sums) {
            values += kept(m, levels[m], b);
        }
    }
    work.waits = waits.count();
    work.registers = takes_sums
                         ? registers_of_sums + registers_per_sum * values
                         : registers_base + registers_per_value * std::min(most_values, values) +
                               registers_per_load * std::min(most_loaded, waits.loads());
    work.dram_bytes = work.l2_bytes = node(0).points() * node(0).bytes;
    if (!node(0).has_updates())
        add_traffic(b, work);
    return work;
}

/// The kernel of an update of the output.
KernelWork KernelModel::work_of_update(size_t stage, const Block &output) const {
    const StageCost &cost = node(0).stages[stage];
    const Block block = block_of_stage(output, extents(), cost.loops_over);
    const BlockTiles b(block);
    KernelWork work;
    std::vector<int64_t> looped = extents();
    for (size_t d = 0; d < looped.size(); d++)
        if (!cost.loops_over[d])
            looped[d] = 1;
    work.blocks = block.blocks(looped);
    work.threads = block.thread_count();
    double computed = work.blocks, points = 1;
    for (size_t d = 0; d < looped.size(); d++) {
        computed *= static_cast<double>(b.whole[d]);
        points *= static_cast<double>(looped[d]);
    }
    work.waits = add_stage(0, stage, b, {Level::Block}, work).waits;
    work.registers = registers_of_sums + registers_per_sum * kept(0, Level::Block, b);
    work.dram_bytes = work.l2_bytes = 2 * node(0).points() * node(0).bytes;
    add_traffic(b, work);
    if (cost.threads == Threads::Parts)
        share_by_parts(stage, points, work);
    else if (cost.threads != Threads::Points)
        share_by_rvars(cost, computed, points, work);
    return work;
}

/// Where the iterations of a reduction are divided among threads and blocks, whose parts are combined.
void KernelModel::share_by_parts(size_t s, double points, KernelWork &work) const {
    const StageCost &stage = node(0).stages[s];
    const ReductionThreads t = reduction_threads(node(0), stage, gpu_.multiprocessors);
    const double blocks = t.blocks(points);
    const double loads = points * stage.repeats * static_cast<double>(stage.loads.size());
    work.blocks = blocks;
    work.threads = t.threads();
    work.instructions = (points * work_[0][s].instructions + access_instructions * loads) / blocks;
    work.shared_loads = work.threads;
    work.global_loads = left_of_sums.accesses * loads / warp / blocks;
    const auto threads = static_cast<double>(t.rvar_threads),
               rvar_blocks = static_cast<double>(t.rvar_blocks);
    work.waits = 2;
    work.iterations = stage.repeats / (threads * rvar_blocks) + std::min(threads, 2 * warp) +
                      std::min(rvar_blocks, 2 * warp);
    work.barriers = 3;
    work.launches = t.block_rvar < 0 ? 1 : rvar_blocks > warp ? 5 : 3;
    work.l2_bytes = work.dram_bytes;
}

/// Where the threads of an update run over RVars: so many blocks do the work of those over points, and read each element
/// once.
/// \param computed  points of the blocks over points; \param points  of the loops that they have
void KernelModel::share_by_rvars(const StageCost &stage, double computed, double points,
                                 KernelWork &work) {
    const bool is_atomic = stage.threads == Threads::Atomic;
    const double threads = is_atomic ? atomic_line : usual_width * usual_height;
    double parts = is_atomic ? stage.repeats : 1;
    for (const Cells &c : stage.cells)
        parts *= is_atomic ? 1 : c.count;
    const double blocks = std::max(1.0, std::ceil(parts * points / threads));
    for (double *all : {&work.instructions, &work.shared_loads, &work.global_loads})
        *all *= work.blocks / blocks * points / computed;
    work.blocks = blocks;
    work.threads = threads;
    work.iterations /= parts;
    work.l2_bytes = work.dram_bytes;
}

/// Elements that a thread loads through a window in a step: no more than there are in the region that its points read,
/// because they share what they load.
double KernelModel::loads_of(const Window &window, const Steps &steps) {
    double touched = 1;
    for (const Coordinate &coordinate : window.hull.coords) {
        const Coordinate c = in_the_middle(coordinate);
        const bool in_columns =
            c.distance.bounded() && c.iterator >= 0 && c.iterator == steps.columns;
        touched *= in_columns ? static_cast<double>(steps.points[static_cast<size_t>(c.iterator)]) *
                                    width_of(c, 1)
                              : width_in(c, steps.points);
    }
    return std::min(window.loads * steps.count(), touched);
}

KernelModel::Loads KernelModel::add_stage(size_t m, size_t stage, const BlockTiles &b,
                                          const std::vector<Level> &levels,
                                          KernelWork &work) const {
    const Steps steps = steps_of(m, stage, b, levels[m]);
    const StageWork &own = work_[m][stage];
    const double points = steps.count();
    double global = 0, shared = 0;  // elements that a thread loads and stores in a step
    double lines = 0;               // of the first cache, that a warp does
    for (const Window &window : own.windows) {
        const double loads = loads_of(window, steps);
        const int producer = member(static_cast<int>(window.hull.func));
        if (producer == 0)
            continue;  // its own sums
        if (producer < 0) {
            global += loads;
            lines += loads * lines_of(window.hull, lane_dim(m, levels[m], b), b);
        } else if (levels[static_cast<size_t>(producer)] == Level::Tile) {
            shared += loads * window.hull.bytes / 4;
        }
    }
    const Loads result{global > 0 ? steps.passes : 0, global + shared};
    const bool in_tile = m > 0 && levels[m] == Level::Tile;
    if (m == 0) {
        const double accesses = stage > 0 ? 2 * points : points;
        global += accesses;
        lines += accesses * warp / lanes_along_x(b);
    } else if (in_tile) {
        shared += points * node(m).bytes / 4;
    }
    const double times = steps.passes * work.threads;
    const Left &left = node(m).stages[stage].repeats > few_terms ? left_of_sums : left_of_stencils;
    work.instructions +=
        left.instructions * times *
        (own.instructions * points + access_instructions * (global + shared) + step_instructions);
    work.shared_loads += left.accesses * times * shared;
    work.global_loads += left.accesses * times / warp * lines;
    if (result.waits > 0)
        work.iterations += steps.passes * (node(m).stages[stage].repeats - 1);
    return result;
}

/// Bytes of an external buffer that a block loads, in whole sectors.
double KernelModel::bytes_of_tile(const External &e, const BlockTiles &b) const {
    const std::vector<int64_t> &tile = b.whole;
    double all = 0;
    for (const Window &w : e.windows) {
        double bytes = e.bytes, loads = w.loads;
        for (size_t d = 0; d < w.hull.coords.size(); d++) {
            const double width = width_in(in_the_middle(w.hull.coords[d]), tile);
            bytes *=
                d == 0 ? (std::ceil(width * e.bytes / sector) + 0.5) * sector / e.bytes : width;
        }
        for (int64_t t : tile)
            loads *= static_cast<double>(t);
        const bool anywhere =
            std::any_of(w.hull.coords.begin(), w.hull.coords.end(), depends_on_data);
        all += anywhere ? std::min(bytes, sector * loads) : bytes;
    }
    return all;
}

void KernelModel::add_traffic(const BlockTiles &b, KernelWork &work) const {
    for (const External &e : externals_) {
        work.l2_bytes += work.blocks * bytes_of_tile(e, b);
        if (!e.in_l2)
            work.dram_bytes += e.size;
    }
}

}  // namespace Pipe::autoschedule
