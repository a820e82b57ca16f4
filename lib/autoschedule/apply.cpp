#include "autoschedule/apply.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "autoschedule/cells.h"
#include "autoschedule/output_loops.h"
#include "autoschedule/output_versions.h"
#include "autoschedule/prefetch_rows.h"
#include "autoschedule/row_sums.h"
#include "autoschedule/stage_loops.h"
#include "graph/reduction.h"
#include "ir/int32.h"
#include "ir/program.h"
#include "support/cache_lines.h"

namespace Pipe::autoschedule {

using graph::FuncNode;
using graph::Graph;
using graph::Packing;
using schedules::Dim;
using schedules::FuncSchedule;
using schedules::LoopLevel;
using schedules::StageSchedule;
using schedules::Transform;

namespace {

LoopLevel root() {
    return {LoopLevel::Kind::Root, FuncId::None, 0, ""};
}

/// The lanes of a histogram are stored one by one, but each in a table of its own: else additions to one element, for equal
/// pixels that follow each other, wait for each other. The tables stay in L1.
int64_t tables_of(const Node &node, const Machine &machine) {
    int64_t tables = 8;
    while (tables > 1 && static_cast<double>(tables) * node.points() * node.bytes >
                             0.5 * static_cast<double>(machine.l1_bytes))
        tables /= 2;
    return tables;
}

/// A loop with many iterations that is parallel has accumulators for each of up to 64 tasks. Large ones, such as the table of a joint
/// histogram, are for one task per core.
void share_among_cores(std::vector<Dim> &dims, const Node &node, const StageCost &stage,
                       const Machine &machine, NewLoops &loops) {
    const int64_t extent = stage.rvars.back();
    if (node.points() * node.bytes < 0.5 * static_cast<double>(machine.l1_bytes) ||
        stage.rvars.size() != dims.size() || extent <= machine.cores)
        return;
    auto [outer, inner] =
        loops.split(dims.back().name, "_o", "_i", ceil_div(extent, int64_t(machine.cores)));
    dims.back().name = inner;
    dims.push_back({outer, LoopKind::Serial, true});
}

/// Along the innermost RVar.
int64_t lanes_of_large_sum(const Node &node, size_t s, const Machine &machine) {
    const auto block = row_sums(node, s, node.extents, machine, machine.cores);
    return block && block->rvar == 0 ? block->lanes * block->vectors
                                     : lanes_for(node, INT32_MAX, machine);
}

/// A large reduction to few points that runs once, such as the sum of an image: vectorized and, on
/// several cores, parallel over its RVars, with private accumulators
/// (lower/private_accumulators.h). Returns false for other stages.
bool reduce_stage(const FuncNode &func, const Node &node, size_t s, const Machine &machine,
                  StageSchedule &stage) {
    constexpr double worth_accumulators = 1 << 15;  // iterations
    if (s == 0 || stage.touched || node.looped_points(node.stages[s]) > few_points ||
        node.iterations(node.stages[s]) < worth_accumulators)
        return false;
    // Every thread has accumulators for all points of the Func, which must be cleared, fit in its
    // cache, and be combined at the end.
    const double accumulators = node.points();
    if (accumulators * node.bytes > 0.5 * static_cast<double>(machine.l2_bytes) ||
        accumulators * machine.cores * 8 > node.iterations(node.stages[s]))
        return false;
    std::string why;
    auto reduction = graph::as_reduction(func, s, &why);
    if (!reduction || !reduction->any_parts || !(reduction->exact || machine.fast_math))
        return false;
    std::vector<Dim> reductions, pure;
    for (const Dim &d : stage.dims)
        (d.is_reduction ? reductions : pure).push_back(d);
    const bool jumps =
        std::count(node.stages[s].loops_over.begin(), node.stages[s].loops_over.end(), false) > 0 &&
        pure.size() < func.args.size();
    NewLoops loops(stage, func);
    std::vector<Dim> dims = {reductions[0]};
    const StageCost &cost = node.stages[s];
    const int64_t lanes = cost.scatters ? tables_of(node, machine)
                          : jumps       ? 1
                                        : lanes_of_large_sum(node, s, machine);
    if (lanes > 1) {
        auto [outer, inner] = loops.split(reductions[0].name, "_w", "_v", lanes);
        dims = {{inner, LoopKind::Vectorized, true}, {outer, LoopKind::Serial, true}};
    }
    dims.insert(dims.end(), reductions.begin() + 1, reductions.end());
    if (machine.cores > 1) {
        share_among_cores(dims, node, node.stages[s], machine, loops);
        dims.back().kind = LoopKind::Parallel;
    }
    dims.insert(dims.end(), pure.begin(), pure.end());
    if (lanes > 1 && !cost.scatters)  // all channels of a picture in one pass
        unroll_channels(inner_loops_of(stage, cost, loops, func.args), node, dims);
    stage.dims = std::move(dims);
    return true;
}

/// A scatter that is computed once: parallel over its cells. Returns false for other stages.
bool scatter_stage(const FuncNode &func, const Node &node, size_t s, const Machine &machine,
                   FuncSchedule &f) {
    StageSchedule &stage = f.stages[s];
    if (stage.touched || !f.compute.root() ||
        !is_parallel_over_cells(node, node.stages[s], machine.cores))
        return false;
    NewLoops loops(stage, func);
    stage.dims = loops_over_cells(inner_loops_of(stage, node.stages[s], loops, func.args), node,
                                  node.stages[s]);
    stage.allow_race_conditions = true;  // there are none: cells are different elements
    return true;
}

/// The copy of an operand of one reader's sums.
Packing packing_of(const FuncNode &reader, const Node &node, size_t s, const PackedOperand &operand,
                   const LoopLevel &level, const Machine &machine) {
    const poly::Access &load = node.stages[s].loads[operand.load];
    return {reader.id,
            load.func,
            load.image,
            level,
            operand.storage_order,
            operand.row,
            lanes_for(node, INT32_MAX, machine)};
}

/// The loops of a stage. Adds the copy of its operand, if there is one.
/// \param begins  where the stage begins
std::vector<Dim> loops_with_copy(const StageLoops &stage, const FuncNode &func, const Node &node,
                                 size_t s, const LoopLevel &begins, const Machine &machine,
                                 std::vector<Packing> &packings) {
    if (stage.packed) {
        const LoopLevel loop = {LoopLevel::Kind::At, func.id, static_cast<int>(s), stage.packed_at};
        packings.push_back(packing_of(func, node, s, *stage.packed,
                                      stage.packed_at.empty() ? begins : loop, machine));
    }
    return stage.dims;
}

/// A stage without loops over tiles: members of groups, and updates.
void vectorize_stage(const FuncNode &func, const Node &node, size_t s,
                     const std::vector<int64_t> &extents, const Machine &machine, bool parallel,
                     FuncSchedule &f, std::vector<Packing> &packings, const Rows &rows = {},
                     const std::vector<int> &order = {}) {
    StageSchedule &stage = f.stages[s];
    if (stage.touched)
        return;
    NewLoops loops(stage, func);
    const StageLoops found =
        loops_of_stage(inner_loops_of(stage, node.stages[s], loops, func.args), func, node, s,
                       extents, machine, parallel ? machine.cores : 1, rows, order);
    std::vector<Dim> dims = loops_with_copy(found, func, node, s, f.compute, machine, packings);
    const bool outermost_is_pure = !dims.empty() && !dims.back().is_reduction;
    if (parallel && outermost_is_pure && dims.back().kind == LoopKind::Serial)
        dims.back().kind = LoopKind::Parallel;
    stage.dims = std::move(dims);
    stage.atomic |= found.atomic;
}

/// All stages of a member whose rows lie side by side.
void transpose(const FuncNode &func, const Node &node, const Rows &rows, FuncSchedule &f) {
    const std::string &row = func.args[static_cast<size_t>(rows.dim)];
    f.storage_order = {row};
    std::copy_if(func.args.begin(), func.args.end(), std::back_inserter(f.storage_order),
                 [&](const std::string &arg) { return arg != row; });
    for (size_t s = 0; s < node.stages.size(); s++) {
        NewLoops loops(f.stages[s], func);
        f.stages[s].dims =
            transposed_loops(inner_loops_of(f.stages[s], node.stages[s], loops, func.args), rows);
    }
}

/// Constant extent that the user promised for a dimension, or 0.
int64_t promised_extent(const FuncSchedule &f, const FuncNode &func, size_t d) {
    const std::string &var = func.args[d];
    for (const graph::BufferPromise &promise : func.output_promises) {
        int64_t extent = 0;
        if (d < promise.dims.size() && ir::as_const_int(promise.dims[d].extent, &extent))
            return extent;
    }
    for (const schedules::Bound &b : f.bounds) {
        int64_t extent = 0;
        if (b.var == var && b.extent.defined() && ir::as_const_int(b.extent, &extent))
            return extent;
    }
    return 0;
}

/// Shares all loops of the pure definition of `host` that are outside of its vector.
void share_loops(FuncId host, StageSchedule &stage) {
    const size_t innermost = stage.dims[0].kind == LoopKind::Vectorized ? 1 : 0;
    if (innermost < stage.dims.size())
        stage.fuse_level = {LoopLevel::Kind::At, host, 0, stage.dims[innermost].name};
}

/// The loop over the rows of a tile, in steps and blocks of them.
void add_rows(NewLoops &loops, const std::string &name, const Plan &plan, std::vector<Dim> &dims) {
    std::string steps, rows = name;
    if (plan.step > plan.block)
        std::tie(steps, rows) = loops.split(name, "_t", "_r", plan.step);
    if (plan.unrolled >= 0 && plan.block > 1) {
        auto [blocks, in_block] = loops.split(rows, "_b", "_r", plan.block);
        dims.push_back({in_block, LoopKind::Serial, false});
        rows = blocks;
    }
    dims.push_back({rows, LoopKind::Serial, false});
    if (plan.unrolled < 0 && plan.block > 1)
        unroll_rows(loops, rows, plan.block, dims);
    if (!steps.empty())
        dims.push_back({steps, LoopKind::Serial, false});
}

/// The loops over the points of a tile, innermost first.
std::vector<Dim> loops_over_points(const Plan &plan, const Node &node, const Graph &graph,
                                   const Machine &machine, const FuncSchedule &f, NewLoops &loops,
                                   OutputLoops &names) {
    const FuncNode &func = graph[node.id];
    std::vector<Dim> dims;
    for (int g : order_of_points(plan)) {
        const size_t d = static_cast<size_t>(g);
        const std::string inner = names.points[d];
        if (inner.empty())
            continue;
        if (d == 0) {
            int64_t lanes = lanes_for(node, plan.tile[0], machine);
            // Where rows take turns, stores past the caches must fill lines at once.
            if (plan.streams && (plan.block > 1 || plan.unrolled >= 0))
                lanes = std::max(lanes, std::min(int64_t(support::cache::line_bytes) / node.widest,
                                                 plan.tile[0]));
            const std::vector<Dim> split = vectorized(loops, inner, lanes);
            if (split.size() > 1)
                dims.insert(dims.begin(), split[0]);
            dims.push_back(split.back());
            names.points[d] = split.back().name;
            continue;
        }
        if (g == plan.row_dim) {
            add_rows(loops, inner, plan, dims);
            names.points[d] = dims.back().name;
            continue;
        }
        const int64_t promised = promised_extent(f, func, d);
        if (g == plan.unrolled && promised != plan.tile[d]) {
            dims.push_back({inner, LoopKind::Serial, false});
            unroll_rows(loops, inner, plan.tile[d], dims);
            names.points[d] = dims.back().name;
            continue;
        }
        const bool unroll = promised > 1 && promised <= 4 && inner == func.args[d];
        // The vectors of all channels of the same points form whole vectors
        // (lower/interleave_stores.h).
        const bool next_to_vector =
            g == plan.unrolled || (plan.inner.empty() && unroll && node.channels == g);
        const bool has_vector = !dims.empty() && dims[0].kind == LoopKind::Vectorized;
        dims.insert(next_to_vector && has_vector ? dims.begin() + 1 : dims.end(),
                    {inner, unroll ? LoopKind::Unrolled : LoopKind::Serial, false});
    }
    return dims;
}

/// The same in register blocks: [vector] [block, unrolled] [loops over blocks].
std::vector<Dim> loops_over_blocks(const Plan &plan, const Node &node, const Machine &machine,
                                   NewLoops &loops, OutputLoops &names) {
    std::vector<Dim> dims;
    for (size_t d = 0; d < plan.register_block.size(); d++) {
        const int64_t size = plan.register_block[d];
        if (size == 1)
            continue;
        auto [outer, inner] = loops.split(names.points[d], "_w", d == 0 ? "_v" : "_u", size);
        names.points[d] = outer;
        if (d > 0) {
            dims.push_back({inner, LoopKind::Unrolled, false});
            continue;
        }
        int64_t lanes = lanes_for(node, size, machine);
        while (size % lanes != 0)
            lanes /= 2;
        if (lanes == size) {
            dims.push_back({inner, LoopKind::Vectorized, false});
            continue;
        }
        auto [unrolled, vector] = loops.split(inner, "_u", "_l", lanes);
        dims.push_back({vector, LoopKind::Vectorized, false});
        dims.push_back({unrolled, LoopKind::Unrolled, false});
    }
    for (int g : order_of_points(plan))
        if (const std::string &name = names.points[static_cast<size_t>(g)]; !name.empty())
            dims.push_back({name, LoopKind::Serial, false});
    return dims;
}

/// The loops of an update that reads the other members, inside of those over tiles.
std::vector<Dim> loops_of_update(const Plan &plan, const Node &node, const FuncNode &func,
                                 const Machine &machine, StageSchedule &stage, NewLoops &loops,
                                 OutputLoops &names, std::vector<Packing> &packings) {
    std::vector<std::string> inner = names.points;
    std::string rows;
    if (plan.row_dim >= 0)
        std::swap(rows, inner[static_cast<size_t>(plan.row_dim)]);
    const StageLoops found =
        loops_of_stage(inner_loops_of(stage, node.stages[plan.stage], loops, inner), func, node,
                       plan.stage, plan.extents[0], machine, 1);
    std::vector<Dim> dims =
        loops_with_copy(found, func, node, plan.stage, names.innermost_tile(), machine, packings);
    stage.atomic |= found.atomic;
    if (plan.row_dim >= 0) {
        add_rows(loops, rows, plan, dims);
        names.points[static_cast<size_t>(plan.row_dim)] = dims.back().name;
    }
    return dims;
}

/// The loops of the group's output: of the stage that reads the other members.
OutputLoops apply_tiles(const Plan &plan, const Node &node, const Graph &graph,
                        const Machine &machine, FuncSchedule &f, std::vector<Packing> &packings) {
    const FuncNode &func = graph[node.id];
    StageSchedule &stage = f.stages[plan.stage];
    NewLoops loops(stage, func);
    const size_t n = func.args.size();
    OutputLoops names = {plan, func.id, std::vector<std::string>(n), func.args};
    for (int g : plan.outer) {
        const size_t d = static_cast<size_t>(g);
        if (plan.tile[d] == 1) {  // the dimension's own loop is the loop over tiles
            names.tiles[d] = func.args[d];
            names.points[d].clear();
        } else {
            std::tie(names.tiles[d], names.points[d]) =
                loops.split(func.args[d], "_o", "_i", plan.tile[d]);
        }
    }
    std::vector<Dim> dims =
        plan.stage > 0 ? loops_of_update(plan, node, func, machine, stage, loops, names, packings)
        : plan.register_block.empty()
            ? loops_over_points(plan, node, graph, machine, f, loops, names)
            : loops_over_blocks(plan, node, machine, loops, names);
    for (size_t i = plan.outer.size(); i-- > 0;) {
        const bool parallel = plan.parallel && i == 0;
        dims.push_back({names.tiles[static_cast<size_t>(plan.outer[i])],
                        parallel ? LoopKind::Parallel : LoopKind::Serial, false});
    }
    stage.dims = std::move(dims);
    return names;
}

/// The loops of all stages of the group's output.
OutputLoops apply_output(const Plan &plan, const Node &node, const Graph &graph,
                         const Machine &machine, FuncSchedule &f, std::vector<Packing> &packings) {
    const FuncNode &func = graph[node.id];
    OutputLoops loops = apply_tiles(plan, node, graph, machine, f, packings);
    for (size_t s = 0; s < func.stages.size(); s++)
        if (s != plan.stage && !reduce_stage(func, node, s, machine, f.stages[s]) &&
            !scatter_stage(func, node, s, machine, f))
            vectorize_stage(func, node, s, node.extents, machine, plan.parallel, f, packings);
    return loops;
}

}  // namespace

void apply(const Plan &plan, const StageGraph &nodes, const Graph &graph, const Machine &machine,
           schedules::Schedule &schedule, std::vector<Packing> &packings) {
    const Node &output = nodes.nodes[static_cast<size_t>(plan.output())];
    FuncSchedule &f = schedule[output.id];
    // The user may specify how a Func is stored without specifying where.
    if (output.role == Role::Free || f.compute.inlined()) {
        f.compute = root();
        if (f.store.inlined())
            f.store = root();
    }
    f.nontemporal_stores |= plan.streams;
    const OutputLoops loops = apply_output(plan, output, graph, machine, f, packings);
    for (size_t m = 1; m < plan.members.size(); m++) {
        const Node &node = nodes.nodes[static_cast<size_t>(plan.members[m])];
        FuncSchedule &member = schedule[node.id];
        const Place place = place_of(plan, m);
        member.compute = loops.level(place.compute);
        member.store = loops.level(place.store);
        const FuncNode &func = graph[node.id];
        if (!plan.transposed.empty() && plan.transposed[m]) {
            transpose(func, node, plan.rows[m], member);
            continue;
        }
        for (size_t s = 0; s < node.stages.size(); s++) {
            if (member.compute.root() && reduce_stage(func, node, s, machine, member.stages[s]))
                continue;
            vectorize_stage(func, node, s, plan.extents[m], machine, false, member, packings,
                            plan.rows[m], place.order);
        }
        if (plan.packed && plan.levels[m] == Level::Block) {
            const std::vector<int> order = order_of_points(plan);
            const LoopLevel at = plan.packed->loop < order.size()
                                     ? loops.level({order[plan.packed->loop], false})
                                     : loops.innermost_tile();
            packings.push_back(packing_of(func, node, 1, *plan.packed, at, machine));
        }
    }
    auto id = [&](size_t m) { return nodes.nodes[static_cast<size_t>(plan.members[m])].id; };
    for (size_t m = 1; m < plan.shares.size(); m++)
        if (plan.shares[m] >= 0)
            share_loops(id(static_cast<size_t>(plan.shares[m])), schedule[id(m)].stages[0]);
    prefetch_rows(plan, nodes, graph, machine, schedule);
    add_versions(plan, nodes, graph, machine, loops, schedule);
}

}  // namespace Pipe::autoschedule
