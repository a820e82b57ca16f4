#include "autoschedule/stage_loops.h"

#include <algorithm>
#include <tuple>

#include "autoschedule/register_block.h"

namespace Pipe::autoschedule {

using graph::FuncNode;
using schedules::Dim;
using schedules::StageSchedule;

int64_t lanes_for(const Node &node, int64_t extent, const Machine &machine) {
    int64_t lanes = std::max(1, machine.vector_bytes / node.widest);
    while (lanes > extent)
        lanes /= 2;
    return lanes >= 4 || lanes * node.widest >= 16 ? lanes : 1;
}

std::vector<Dim> vectorized(NewLoops &loops, const std::string &name, int64_t lanes) {
    if (lanes <= 1)
        return {{name, LoopKind::Serial, false}};
    auto [outer, inner] = loops.split(name, "_w", "_v", lanes);
    return {{inner, LoopKind::Vectorized, false}, {outer, LoopKind::Serial, false}};
}

namespace {

/// The loops over the dimensions that have one, from the innermost one on.
void add_pure(const InnerLoops &inner, std::vector<Dim> &dims) {
    for (const std::string &name : inner.names)
        if (!name.empty())
            dims.push_back({name, LoopKind::Serial, false});
}

/// Sums with lanes along an RVar: [vector] [rows, unrolled] [its other iterations] [other RVars] [pure loops], the one over
/// blocks of rows outermost: what they read stays in the cache.
std::vector<Dim> sum_rows(InnerLoops inner, const RegisterBlock &block) {
    const auto along = inner.reductions.begin() + block.rvar;
    const auto [outer, lanes] =
        inner.loops.split(along->name, "_w", "_v", block.lanes * block.vectors);
    std::vector<Dim> dims = {{lanes, LoopKind::Vectorized, true}, {outer, LoopKind::Serial, true}};
    inner.reductions.erase(along);
    dims.insert(dims.end(), inner.reductions.begin(), inner.reductions.end());
    add_pure(inner, dims);
    if (block.rows_dim >= 0) {
        const std::string &row = inner.names[static_cast<size_t>(block.rows_dim)];
        const auto loop =
            std::find_if(dims.begin(), dims.end(), [&](const Dim &d) { return d.name == row; });
        if (loop == dims.end())
            return dims;
        std::rotate(loop, loop + 1, dims.end());
        unroll_rows(inner.loops, row, block.rows, dims);
    }
    return dims;
}

/// The loops over RVars, a few iterations of the innermost one unrolled.
void add_reductions(InnerLoops &inner, const RegisterBlock &block, std::vector<Dim> &dims) {
    if (block.steps > 1) {
        Dim &innermost = inner.reductions.front();
        auto [outer, unrolled] = inner.loops.split(innermost.name, "_w", "_u", block.steps);
        innermost.name = outer;
        dims.push_back({unrolled, LoopKind::Unrolled, true});
    }
    dims.insert(dims.end(), inner.reductions.begin(), inner.reductions.end());
}

/// [RVars in a part] [loops over the blocks of a tile] [parts] [loops over tiles], see block_order.h. Returns the names of
/// all but the first of these.
std::vector<std::string> add_parts(InnerLoops &inner, const RegisterBlock &block,
                                   std::vector<Dim> &dims) {
    const bool in_pairs = block.pair == static_cast<int>(inner.reductions.size()) - 1;
    const auto [parts, part] = inner.loops.split(inner.reductions.back().name, "_o", "_i",
                                                 in_pairs ? (block.part + 1) / 2 : block.part);
    inner.reductions.back().name = part;
    add_reductions(inner, block, dims);
    std::vector<std::string> names, tiles(inner.names.size());
    for (int g : block.loops) {
        std::string &name = inner.names[static_cast<size_t>(g)];
        if (!name.empty())
            std::tie(tiles[static_cast<size_t>(g)], name) =
                inner.loops.split(name, "_t", "_b", block.tile[static_cast<size_t>(g)]);
        names.push_back(name);
    }
    names.push_back(parts);
    for (int g : block.tiles)
        names.push_back(tiles[static_cast<size_t>(g)]);
    for (const std::string &name : names)
        if (!name.empty())
            dims.push_back({name, LoopKind::Serial, name == parts});
    return names;
}

/// The first of these names from `place` on that is not empty; "" if there is none.
std::string loop_at(const std::vector<std::string> &names, size_t place) {
    const auto loop = std::find_if(names.begin() + static_cast<long>(std::min(place, names.size())),
                                   names.end(), [](const auto &name) { return !name.empty(); });
    return loop == names.end() ? "" : *loop;
}

/// A reduction in blocks of sums: [vector] [block, unrolled] [RVars] [loops over blocks].
StageLoops block_stage(InnerLoops inner, const RegisterBlock &block) {
    std::vector<Dim> dims;
    std::vector<std::string> &outer = inner.names;
    std::string vector;
    std::tie(outer[0], vector) =
        inner.loops.split(outer[0], "_w", "_v", block.lanes * block.vectors);
    if (block.vectors > 1) {
        auto [unrolled, lanes] =
            inner.loops.split(vector, "_u", "_l", block.by_phase ? block.vectors : block.lanes);
        if (block.by_phase)
            std::swap(unrolled, lanes);
        dims = {{lanes, LoopKind::Vectorized, false}, {unrolled, LoopKind::Unrolled, false}};
    } else {
        dims = {{vector, LoopKind::Vectorized, false}};
    }
    if (block.rows_dim > 0) {
        const size_t d = static_cast<size_t>(block.rows_dim);
        std::string rows;
        std::tie(outer[d], rows) = inner.loops.split(outer[d], "_w", "_u", block.rows);
        dims.insert(block.holds_rows ? dims.begin() + 1 : dims.end(),
                    {rows, LoopKind::Unrolled, false});
    }
    for (size_t r = 0; r < block.unrolled; r++)
        inner.reductions[r].kind = LoopKind::Unrolled;
    if (block.pair >= 0) {
        Dim &along = inner.reductions[static_cast<size_t>(block.pair)];
        const auto [pairs, pair] = inner.loops.split(along.name, "_w", "_p", 2);
        along.name = pairs;
        dims.insert(dims.begin(), {pair, LoopKind::Vectorized, true});
    }
    std::vector<std::string> around;
    if (block.part > 0) {
        around = add_parts(inner, block, dims);
    } else {
        add_reductions(inner, block, dims);
        for (int d : block.loops) {
            around.push_back(outer[static_cast<size_t>(d)]);
            if (!around.back().empty())
                dims.push_back({around.back(), LoopKind::Serial, false});
        }
    }
    return {std::move(dims), block.packed, block.pair >= 0,
            block.packed ? loop_at(around, block.packed->loop) : std::string()};
}

/// The loops in the order of these dimensions; the others follow.
void reorder(std::vector<Dim> &loops, const FuncNode &func, const std::vector<int> &order) {
    auto place = [&](const Dim &loop) {
        return std::find_if(order.begin(), order.end(),
                            [&](int d) { return func.args[static_cast<size_t>(d)] == loop.name; }) -
               order.begin();
    };
    std::stable_sort(loops.begin(), loops.end(),
                     [&](const Dim &a, const Dim &b) { return place(a) < place(b); });
}

}  // namespace

void unroll_rows(NewLoops &loops, const std::string &name, int64_t count, std::vector<Dim> &dims) {
    const auto row =
        std::find_if(dims.begin(), dims.end(), [&](const Dim &d) { return d.name == name; });
    if (row == dims.end())
        return;
    auto [outer, inner] = loops.split(name, "_b", "_u", count);
    row->name = outer;
    const bool has_vector = dims[0].kind == LoopKind::Vectorized;
    dims.insert(dims.begin() + (has_vector ? 1 : 0), {inner, LoopKind::Unrolled, false});
}

void unroll_channels(const InnerLoops &inner, const Node &node, std::vector<Dim> &dims) {
    for (size_t d = inner.names.size(); d-- > 0;)
        if (!inner.names[d].empty() && node.extents[d] > 1 && node.extents[d] <= most_channels)
            unroll_rows(inner.loops, inner.names[d], node.extents[d], dims);
}

namespace {

/// Points one after another, so that the channels of one share the place where they are stored: [channels, unrolled]
/// [RVars] [pure loops].
std::vector<Dim> scattered_loops(const InnerLoops &inner, const Node &node) {
    std::vector<Dim> dims = inner.reductions;
    add_pure(inner, dims);
    unroll_channels(inner, node, dims);
    return dims;
}

/// Lanes along dimension 0 where so much of a stage is computed at a time: a single point is no vector. (Masked, it would
/// be, and loading a vector of which one lane was just stored waits until that store is complete.)
int64_t lanes_along_0(const Node &node, const std::vector<int64_t> &extents,
                      const Machine &machine) {
    return extents.empty() || extents[0] == 1 ? 1 : lanes_for(node, node.extents[0], machine);
}

/// A scan, or a sum of rows, in strips that cores share: [vector] [vectors, unrolled] [rows, unrolled] [row of the strip]
/// [RVars] [strips]. Few rows at a time, each of which takes the result of the one before from registers.
std::vector<Dim> strips_of_rows(InnerLoops inner, int64_t lanes, int64_t strip) {
    constexpr int64_t vectors = 4, rows = 4;
    const auto [strips, columns] = inner.loops.split(inner.names[0], "_o", "_i", strip);
    const auto [blocks, block] = inner.loops.split(columns, "_w", "_v", lanes * vectors);
    const auto [unrolled, vector] = inner.loops.split(block, "_u", "_l", lanes);
    std::vector<Dim> dims = {{vector, LoopKind::Vectorized, false},
                             {unrolled, LoopKind::Unrolled, false}};
    Dim &along = inner.reductions.front();
    const auto [steps, step] = inner.loops.split(along.name, "_w", "_u", rows);
    along.name = steps;
    dims.push_back({step, LoopKind::Unrolled, true});
    dims.push_back({blocks, LoopKind::Serial, false});
    dims.insert(dims.end(), inner.reductions.begin(), inner.reductions.end());
    inner.names[0] = strips;
    std::rotate(inner.names.begin(), inner.names.begin() + 1, inner.names.end());
    add_pure(inner, dims);
    return dims;
}

/// A scan row by row: [vector] [row] [RVars] [pure loops].
std::vector<Dim> row_wise_scan(InnerLoops inner, int64_t lanes) {
    std::vector<Dim> dims = vectorized(inner.loops, inner.names[0], lanes);
    dims.insert(dims.end(), inner.reductions.begin(), inner.reductions.end());
    inner.names[0].clear();
    add_pure(inner, dims);
    return dims;
}

/// Vectors along dimension 0, if there is a loop over it. RVars go between the vector and the other loops, so
/// that a vector of sums stays in registers.
std::vector<Dim> vectorized_loops(InnerLoops inner, const FuncNode &func, const StageCost &stage,
                                  int64_t lanes, const Rows &rows, const std::vector<int> &order) {
    std::vector<Dim> dims, pure;
    add_pure(inner, pure);
    if (!inner.names.empty() && !inner.names[0].empty()) {
        dims = vectorized(inner.loops, pure[0].name, lanes);
        pure.erase(pure.begin());
        const size_t unrolled = dims.size() > 1 ? unrolled_loops(stage, 1).rvars : 0;
        for (size_t r = 0; r < unrolled; r++)
            inner.reductions[r].kind = LoopKind::Unrolled;
        dims.insert(dims.begin() + (dims.size() > 1 ? 1 : 0), inner.reductions.begin(),
                    inner.reductions.end());
    } else {
        dims = inner.reductions;
    }
    reorder(pure, func, order);
    dims.insert(dims.end(), pure.begin(), pure.end());
    if (rows.count > 1)
        unroll_rows(inner.loops, func.args[static_cast<size_t>(rows.dim)], rows.count, dims);
    return dims;
}

}  // namespace

std::vector<Dim> transposed_loops(InnerLoops inner, const Rows &rows) {
    const auto [row, lanes] =
        inner.loops.split(inner.names[static_cast<size_t>(rows.dim)], "_w", "_v", rows.count);
    inner.names[static_cast<size_t>(rows.dim)] = row;
    std::vector<Dim> dims = {{lanes, LoopKind::Vectorized, false}};
    if (inner.reductions.empty()) {
        const auto [column, unrolled] = inner.loops.split(inner.names[0], "_w", "_u", rows.count);
        inner.names[0] = column;
        dims.push_back({unrolled, LoopKind::Unrolled, false});
    }
    dims.insert(dims.end(), inner.reductions.begin(), inner.reductions.end());
    add_pure(inner, dims);
    return dims;
}

InnerLoops inner_loops_of(const StageSchedule &stage, const StageCost &cost, NewLoops &loops,
                          std::vector<std::string> names) {
    InnerLoops inner{loops, std::move(names), {}};
    for (size_t d = 0; d < inner.names.size(); d++)
        if (!cost.loops_over[d])
            inner.names[d].clear();
    for (const Dim &d : stage.dims)
        if (d.is_reduction)
            inner.reductions.push_back(d);
    return inner;
}

StageLoops loops_of_stage(InnerLoops inner, const FuncNode &func, const Node &node, size_t s,
                          const std::vector<int64_t> &extents, const Machine &machine, int cores,
                          const Rows &rows, const std::vector<int> &order) {
    if (const auto block = reduction_block(node, s, extents, machine, cores)) {
        if (block->rvar < 0)
            return block_stage(std::move(inner), *block);
        return {sum_rows(std::move(inner), *block), {}, false, ""};
    }
    if (node.stages[s].scatters && !node.stages[s].has_vectors())
        return {scattered_loops(inner, node), {}, false, ""};
    const int64_t lanes = lanes_along_0(node, extents, machine);
    if (const int64_t row = strip_of_rows(node, s, extents, machine, cores); row > 0)
        return {cores == 1 ? row_wise_scan(std::move(inner), lanes)
                           : strips_of_rows(std::move(inner), lanes, row),
                {},
                false,
                ""};
    return {vectorized_loops(std::move(inner), func, node.stages[s], lanes, s == 0 ? rows : Rows(),
                             order),
            {},
            false,
            ""};
}

}  // namespace Pipe::autoschedule
