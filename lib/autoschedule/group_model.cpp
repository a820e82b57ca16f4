#include "autoschedule/group_model.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "autoschedule/cells.h"

namespace Pipe::autoschedule {

using poly::Access;
using poly::Coordinate;
using poly::GroupEdge;

namespace {

constexpr double cache_line = 64;
/// Fraction of a cache that holds data between stages: the rest is for data that streams through.
constexpr double usable_shared_cache = 0.7;

/// Instructions of one of the `count` vectors that are rows of a block of rows, transposed.
double transposed_instructions(double lanes, double count) {
    return lanes / count + std::log2(lanes);
}

/// How long a scan waits for the point before.
double latency_of(const StageCost &stage) {
    const bool floats = stage.arithmetic.sums + stage.arithmetic.products > 0;
    return stage.is_scan && !stage.loops_over[0] ? (floats ? 4 : 1) : 0;
}

/// Loads of lanes that are found one by one, with the address of each.
double instructions_apart(double lanes) {
    return 2 * lanes;
}

/// Vector loads that one vector of the reader takes, given how the innermost coordinate moves.
double load_instructions(const Access &load, double vector_bytes, double lanes) {
    const double one =
        load.bytes * lanes / vector_bytes;  // contiguous: as many registers as bytes fill
    const Lanes where = lanes_of(load, lanes);
    if (where == Lanes::Same)
        return 1;
    const Coordinate &x = load.coords[0];
    if (where == Lanes::Apart || std::abs(x.num) > 2 || x.den > 2)
        return instructions_apart(lanes);
    if (x.num == 2)
        return 2.5 * one;
    if (x.den == 2)
        return 1.5 * one;
    // A vector as wide as a cache line accesses two lines unless it is aligned. Rows of scratch
    // buffers are aligned, those of images rarely.
    const bool aligned = load.image < 0 && x.distance == poly::Range::point(0);
    return aligned ? one : one * (1 + vector_bytes / cache_line);
}

/// Of the vectors of a row of so many points, those that cross an edge where a boundary condition repeats elements:
/// there, the lanes of a load are found one by one.
double part_at_edges(const Access &load, double lanes, double extent) {
    if (lanes_of(load, lanes) == Lanes::Same || load.coords.empty())
        return 0;
    const Coordinate &x = load.coords[0];
    const double rate = double(std::abs(x.num)) / double(x.den);
    const double outside = extent - double(x.range.size()) / rate;
    return x.iterator != 0 || outside < 1 ? 0 : std::min(1.0, (outside + 2 * lanes) / extent);
}

/// The loads as seen from the group's output: through the region of the reader.
void widen(std::vector<Coordinate> &region, const Access &load) {
    const bool first = region.empty();
    for (size_t d = 0; d < load.coords.size(); d++) {
        if (first)
            region.push_back(load.coords[d]);
        else
            poly::merge(region[d], load.coords[d]);
    }
}

}  // namespace

GroupModel::GroupModel(const StageGraph &graph, const Machine &machine, std::vector<int> members,
                       std::shared_ptr<SearchMemory> memory)
    : graph_(graph), machine_(machine), nodes_(std::move(members)), memory_(std::move(memory)) {
    std::sort(nodes_.rbegin(), nodes_.rend());  // producers come before consumers in the graph
    reading_ = size_t(reading_stage(graph.nodes[static_cast<size_t>(nodes_[0])], nodes_));
    root_bytes_ = graph.bytes_at_root();
    std::vector<int> dims;
    std::vector<GroupEdge> edges;
    for (size_t m = 0; m < nodes_.size(); m++) {
        const Node &node = graph.nodes[static_cast<size_t>(nodes_[m])];
        dims.push_back(node.dims());
        for (const Reads &reads : node.reads) {
            const int producer = member_index(static_cast<int>(reads.hull.func));
            if (producer >= 0)
                edges.push_back({producer, static_cast<int>(m), &reads.hull});
        }
    }
    alignment_ = poly::align(dims, edges);
    const Node &out = graph.nodes[static_cast<size_t>(nodes_[0])];
    for (size_t d = 0; d < out.extents.size(); d++)
        alignment_.region[0][d].range = out.range(d);
    for (int n : nodes_)
        add_member(graph.nodes[static_cast<size_t>(n)]);
    for (size_t m = 1; m < members_.size(); m++)
        members_[m].together = cheaper_rows(m);
    for (int row_dim = -1; row_dim < dims[0]; row_dim++)
        levels_.push_back(levels(row_dim));
    find_sums();
}

/// Members are sorted in descending order; -1: not a member.
int GroupModel::member_index(int node) const {
    auto at = std::lower_bound(nodes_.begin(), nodes_.end(), node, std::greater<int>());
    return at != nodes_.end() && *at == node ? static_cast<int>(at - nodes_.begin()) : -1;
}

void GroupModel::add_member(const Node &node) {
    Member member;
    const size_t index = members_.size();
    member.bytes = node.bytes;
    member.lanes =
        node.dims() == 0 ? 1 : std::max(1.0, machine_.vector_bytes / double(node.widest));
    add_clocks(node, member);
    for (const Reads &reads : node.reads) {
        int buffer = member_index(static_cast<int>(reads.hull.func));
        if (buffer < 0) {
            buffer = external(reads.hull);
            External &e = externals_[static_cast<size_t>(buffer)];
            widen(e.region, poly::compose(reads.hull, alignment_.region[index]));
            buffer += static_cast<int>(nodes_.size());
        }
        member.reads.push_back(
            {buffer, reads.rows, reads.hull.bytes, reads.rows_besides, uses(reads.hull)});
    }
    members_.push_back(std::move(member));
}

/// Index of the buffer outside of the group that `load` reads.
int GroupModel::external(const Access &load) {
    for (size_t i = 0; i < externals_.size(); i++) {
        if (externals_[i].func == static_cast<int>(load.func) &&
            externals_[i].image == load.image) {
            return static_cast<int>(i);
        }
    }
    External e;
    e.func = static_cast<int>(load.func);
    e.image = load.image;
    e.bytes = load.bytes;
    if (load.image >= 0) {
        e.size = graph_.image_bytes[static_cast<size_t>(load.image)];
        e.from = far(0);
    } else {
        const Node &node = graph_.nodes[static_cast<size_t>(load.func)];
        e.size = node.points() * node.bytes;
        e.from = far(node.is_output ? 0 : e.size);
    }
    externals_.push_back(std::move(e));
    return static_cast<int>(externals_.size()) - 1;
}

/// Where whole buffers lie, while `more` bytes lie beside the pipeline's inputs and outputs.
GroupModel::Far GroupModel::far(double more) const {
    if (root_bytes_ + more <= usable_shared_cache * static_cast<double>(machine_.l2_bytes))
        return {machine_.l2_rate, 0};
    if (root_bytes_ + more <= usable_shared_cache * static_cast<double>(machine_.l3_bytes))
        return {machine_.l3_rate, machine_.stream_start_l3};
    return {std::min(machine_.dram_rate, machine_.dram_rate_all_cores / machine_.cores),
            machine_.stream_start};
}

/// Whether the output should use non-temporal stores: if it cannot stay in the caches until it is
/// read, reading each line before writing it gains nothing. Only for whole vectors in rows that
/// begin at vector boundaries.
bool GroupModel::streams() const {
    const Node &out = graph_.nodes[static_cast<size_t>(nodes_[0])];
    if (out.role == Role::Fixed || out.has_updates() || out.dims() == 0)
        return false;
    const int64_t row_bytes = out.extents[0] * out.bytes;
    return out.points() * out.bytes > static_cast<double>(machine_.l3_bytes) &&
           row_bytes % machine_.vector_bytes == 0;
}

void GroupModel::add_clocks(const Node &node, Member &member) const {
    const FuncId out = graph_.nodes[static_cast<size_t>(nodes_[0])].id;
    const size_t index = members_.size();
    member.starts = node.is_overwritten;
    if (node.starts_from_formula && node.stages[1].loops_over_all()) {
        const auto &block = block_of(index, 1, node.extents, 1);
        member.starts = block && block->is_of_points() && block->part == 0;
    }
    for (size_t s = 0; s < node.stages.size(); s++) {
        const StageCost &stage = node.stages[s];
        const auto &block = block_of(index, s, node.extents, 1);
        if (s == 0 && member.starts)
            continue;
        const double plain = clocks_of(stage, node);
        if (!stage.loops_over_all() && node.id == out)
            member.update_clocks += (block ? block->clocks : clocks_of_jump(stage, node)) *
                                    node.iterations(stage) / cores_of(stage, node);
        else if (!stage.loops_over_all())
            member.jumping.push_back(
                {s, (block ? block->clocks : clocks_of_jump(stage, node)) * stage.repeats,
                 std::max(plain, latency_of(stage)) * stage.repeats / member.lanes});
        else if (block)
            member.blocked.push_back({s, stage.repeats, plain});
        else
            member.clocks += plain * stage.repeats;
    }
}

/// Of one iteration, of which so many rows are computed together.
double GroupModel::clocks_of(const StageCost &stage, const Node &node, const Rows &rows) const {
    const double v = machine_.vector_bytes;
    const bool vector = stage.has_vectors();
    const double lanes = vector ? std::max(1.0, v / node.widest) : 1;
    const double width = vector ? v : 4;  // scalar operations: one element of a usual type
    RowSharing shared;
    if (rows.count > 1)
        shared = share_rows(stage, rows);
    // What waits for the next rows, and some to work with: else it is loaded again.
    const double registers = std::ceil(double(stage.arithmetic.widest) / node.widest);
    const double one = stage.arithmetic.count + double(stage.loads.size());
    const bool is_shared =
        rows.count > 1 && (shared.live + 4) * registers <= machine_.vector_registers &&
        (one * double(rows.count) <= most_unrolled || have_most_in_common(stage, rows.dim));
    // What is the same along a row is computed once, before its loop.
    const bool hoists = vector && stage.rvars.empty();
    const auto once_per_row = [&](uint64_t variables) {
        return hoists && !(variables & 1) ? 1 / double(node.extents[0]) : 1;
    };
    Arithmetic work;
    work.widest = stage.arithmetic.widest;
    for (const Work &own : stage.own_work)
        work.add(own.arithmetic,
                 once_per_row(own.variables) *
                     (is_shared && !(own.variables >> rows.dim & 1) ? 1 / double(rows.count) : 1));
    for (size_t i = 0; i < stage.evaluated.size(); i++)
        work.add(stage.evaluated[i].arithmetic,
                 once_per_row(uses(stage.evaluated[i].at)) * (is_shared ? shared.evaluated[i] : 1));
    if (hoists && machine_.fast_math)
        work = work.with_reciprocals();
    // Unrolled bodies are often too large to have a copy without tests (lower/partition_loops.cpp).
    if (rows.count > 1)
        work = work.with_tests();
    double loads = 0;
    for (size_t i = 0; i < stage.loads.size(); i++) {
        const Access &load = stage.loads[i];
        if (!vector)
            loads += is_shared ? shared.loads[i] : 1;
        else if (is_shared && autoschedule::is_transposed(load, rows.dim))
            loads += transposed_instructions(lanes, double(rows.count));
        else
            loads +=
                (load_instructions(load, v, lanes) +
                 part_at_edges(load, lanes, double(node.extents[0])) * instructions_apart(lanes)) *
                (is_shared ? shared.loads[i] : 1);
    }
    const double compute = work.total() * lanes / width / machine_.arithmetic_rate;
    const double memory = loads / machine_.load_rate + 0.5 / machine_.store_rate;
    return overlapped(compute, memory, 0.6) / lanes;
}

/// Of one iteration of an update without a loop over each dimension, points one after another.
double GroupModel::clocks_of_jump(const StageCost &stage, const Node &node) const {
    const bool next_is_elsewhere =
        stage.cells.size() > 1 && is_parallel_over_cells(node, stage, machine_.cores);
    double clocks = clocks_of(stage, node);
    for (int d = 0; d < node.dims() && stage.scatters && !stage.has_vectors(); d++)
        if (const int64_t channels = node.extents[static_cast<size_t>(d)];
            stage.loops_over[static_cast<size_t>(d)] && channels <= most_channels)
            clocks = std::min(clocks, clocks_of(stage, node, {d, channels}));
    const double alone = std::max(clocks, next_is_elsewhere ? 0 : latency_of(stage));
    const double lanes = machine_.vector_bytes / double(node.widest);
    if (!(stage.is_prefix || (stage.is_prefix_fast && machine_.fast_math)) || lanes < 8)
        return alone;
    // Each step shuffles, and adds; a block waits for the one before once.
    const double compute =
        (stage.arithmetic.total() * lanes / machine_.vector_bytes + 2 * std::log2(lanes)) /
        machine_.arithmetic_rate;
    const double memory =
        double(stage.loads.size()) / machine_.load_rate + 0.5 / machine_.store_rate;
    return std::max(latency_of(stage), overlapped(compute, memory, 0.6)) / lanes;
}

/// The rows or channels of a member that are computed together: of the output those that the tiling names, of others
/// those that make a point cheapest.
Rows GroupModel::rows_of(size_t member, const Tiling &t) const {
    if (member == 0 && t.unrolled >= 0)
        return {t.unrolled, extents()[static_cast<size_t>(t.unrolled)]};
    Rows best = rows_in_block(member, t);
    if (levels_of(t)[member] == Level::Block)
        return best;
    double least = worth_unrolling_channels * clocks_in_rows(member, best);
    for (const Rows &rows : members_[member].together) {
        const double clocks = clocks_together(member, rows, t);
        if (clocks < least)
            best = rows, least = clocks;
    }
    return best;
}

/// Of one point, rows that are left over row by row. Where a member has rows in blocks of the output, tiles have whole
/// blocks.
double GroupModel::clocks_together(size_t member, const Rows &rows, const Tiling &t) const {
    const double together = clocks_in_rows(member, rows);
    if (rows.count == 1 || rows == rows_in_block(member, t))
        return together;
    const int64_t extent = step_extent(member, static_cast<size_t>(rows.dim), t);
    const double alone = static_cast<double>(extent % rows.count) / static_cast<double>(extent);
    return alone * clocks_in_rows(member, {}) + (1 - alone) * together;
}

/// Of a member: all points of a short dimension, and a few of a long one, whose values share so much that each is
/// cheaper.
std::vector<Rows> GroupModel::cheaper_rows(size_t member) const {
    std::vector<Rows> result;
    if (!members_[member].jumping.empty())
        return result;
    const Node &node = graph_.nodes[static_cast<size_t>(nodes_[member])];
    const double one_by_one = clocks_in_rows(member, {});
    auto add = [&](const Rows &rows, double worth_it) {
        if (clocks_in_rows(member, rows) < worth_it * one_by_one)
            result.push_back(rows);
    };
    for (int d = 1; d < node.dims(); d++) {
        const int64_t extent = node.extents[static_cast<size_t>(d)];
        if (are_channels(node.stages[0], d, extent))
            add({d, extent}, 1);
        for (int64_t count : {2, 4, 8})
            if (extent > most_channels)
                add({d, count}, worth_unrolling);
    }
    std::stable_sort(result.begin(), result.end(), [&](const Rows &a, const Rows &b) {
        return clocks_in_rows(member, a) < clocks_in_rows(member, b);
    });
    return result;
}

Rows GroupModel::rows_in_block(size_t member, const Tiling &t) const {
    if (t.block == 1 || (member > 0 && levels_of(t)[member] != Level::Row))
        return {};
    const auto &region = alignment_.region[member];
    for (size_t d = 1; d < region.size(); d++) {
        const Coordinate &c = region[d];
        if (moves(c) && c.iterator == t.row_dim && c.den == 1 && std::abs(c.num) == 1)
            return {static_cast<int>(d), t.block};
    }
    return {};
}

/// Whether a member's scans along dimension 0 take a vector of rows at a time, for which the rows lie side by
/// side in its memory.
bool GroupModel::is_transposed(size_t member, const Tiling &t) const {
    const Rows rows = rows_of(member, t);
    if (member == 0 || rows.count == 1 || double(rows.count) != members_[member].lanes ||
        !alignment_.region[member][static_cast<size_t>(rows.dim)].distance.is_point())
        return false;
    const auto &stages = graph_.nodes[static_cast<size_t>(nodes_[member])].stages;
    auto is_along_0 = [](const StageCost &stage) { return stage.is_scan && !stage.loops_over[0]; };
    return std::any_of(stages.begin(), stages.end(), is_along_0) &&
           std::all_of(stages.begin(), stages.end(), [&](const StageCost &stage) {
               return stage.loops_over[static_cast<size_t>(rows.dim)] &&
                      (stage.loops_over[0] || is_along_0(stage));
           });
}

/// Of one point of a member that is stored transposed, and read so.
double GroupModel::transposition_clocks(size_t member) const {
    const double lanes = members_[member].lanes;
    return 2 * transposed_instructions(lanes, lanes) / lanes / machine_.load_rate;
}

/// Of one point of a member, whose pure definition is computed in blocks of rows.
double GroupModel::clocks_in_rows(size_t member, const Rows &rows) const {
    const double one_by_one = members_[member].clocks;
    if (rows.count == 1)
        return one_by_one;
    auto [at, is_new] = clocks_.try_emplace({member, rows.dim, rows.count});
    if (is_new) {
        const Node &node = graph_.nodes[static_cast<size_t>(nodes_[member])];
        const StageCost &pure = node.stages[0];
        at->second = one_by_one - clocks_of(pure, node) + clocks_of(pure, node, rows);
    }
    return at->second;
}

/// The cores that an update keeps busy: its outermost loop is parallel if it is pure.
double GroupModel::cores_of(const StageCost &stage, const Node &node) const {
    if (is_parallel_over_cells(node, stage, machine_.cores))
        return std::min(double(machine_.cores), stage.cells.back().count);
    for (size_t d = node.extents.size(); d-- > 0;)
        if (stage.loops_over[d])
            return static_cast<double>(std::min<int64_t>(machine_.cores, node.extents[d]));
    return 1;
}

int reading_stage(const Node &output, const std::vector<int> &members) {
    auto reads_members = [&](const StageCost &stage) {
        return std::any_of(stage.loads.begin(), stage.loads.end(), [&](const Access &load) {
            return load.func != output.id &&
                   std::find(members.begin(), members.end(), static_cast<int>(load.func)) !=
                       members.end();
        });
    };
    const auto &stages = output.stages;
    if (std::none_of(stages.begin(), stages.end(), reads_members))
        return 0;
    if (std::count_if(stages.begin(), stages.end(), reads_members) > 1)
        return -1;
    const auto reader = std::find_if(stages.begin(), stages.end(), reads_members);
    const bool has_loops = reader->loops_over_all() && output.points() > few_points;
    return reader == stages.begin() || has_loops ? static_cast<int>(reader - stages.begin()) : -1;
}

bool is_group(const StageGraph &graph, const std::vector<int> &members) {
    const int output = *std::max_element(members.begin(), members.end());
    const Node &out = graph.nodes[static_cast<size_t>(output)];
    if (members.size() == 1)
        return true;
    if (out.role == Role::Fixed || reading_stage(out, members) < 0)
        return false;
    for (int m : members) {
        const Node &node = graph.nodes[static_cast<size_t>(m)];
        if (m == output)
            continue;
        if (node.role != Role::Free || node.is_output)
            return false;
        for (int c : node.consumers) {
            if (std::find(members.begin(), members.end(), c) == members.end())
                return false;
        }
    }
    return true;
}

std::optional<Plan> plan_group(const StageGraph &graph, const Machine &machine,
                               std::vector<int> members, bool coarse,
                               const std::shared_ptr<SearchMemory> &memory) {
    if (members.size() > most_members || !is_group(graph, members))
        return std::nullopt;
    return GroupModel(graph, machine, std::move(members), memory).best(coarse);
}

}  // namespace Pipe::autoschedule
