#include "autoschedule/prefetch_rows.h"

#include <algorithm>
#include <set>

#include "ir/int32.h"
#include "ir/visit.h"
#include "support/integers.h"

namespace Pipe::autoschedule {

using graph::FuncNode;
using poly::Access;
using poly::Coordinate;
using schedules::Dim;
using schedules::StageSchedule;
using schedules::Transform;

namespace {

/// A loop of a stage: the dimension that it runs along, and its iterations over all that is needed.
struct OneDimension {
    int dim = -1;  ///< -1: not one dimension
    int64_t iterations = 1;
};

OneDimension dimension_of(const std::string &loop, const StageSchedule &stage, const FuncNode &func,
                          const Node &node) {
    const auto made =
        std::find_if(stage.transforms.rbegin(), stage.transforms.rend(), [&](const Transform &t) {
            return t.kind == Transform::Kind::Split && (t.outer == loop || t.inner == loop);
        });
    if (made == stage.transforms.rend()) {
        const auto arg = std::find(func.args.begin(), func.args.end(), loop);
        if (arg == func.args.end())
            return {};
        const size_t d = static_cast<size_t>(arg - func.args.begin());
        return {static_cast<int>(d), node.extents[d]};
    }
    int64_t factor = 0;
    const OneDimension old = dimension_of(made->old_name, stage, func, node);
    if (!ir::as_const_int(made->factor, &factor) || factor < 1)
        return {};
    return {old.dim, made->inner == loop ? std::min(factor, old.iterations)
                                         : ceil_div(old.iterations, factor)};
}

/// The innermost loop over vectors or register blocks, and the one over rows around it.
struct RowLoops {
    std::string vectors, rows;  ///< "": none
    int row_dim = -1;
};

RowLoops row_loops(const StageSchedule &stage, const FuncNode &func, const Node &node) {
    RowLoops result;
    if (stage.dims.empty() || stage.dims[0].kind != LoopKind::Vectorized)
        return result;
    for (const Dim &loop : stage.dims) {
        if (loop.kind == LoopKind::Vectorized || loop.kind == LoopKind::Unrolled)
            continue;
        const OneDimension its = dimension_of(loop.name, stage, func, node);
        if (loop.kind != LoopKind::Serial || loop.is_reduction || its.dim < 0)
            return {};
        if (result.vectors.empty()) {
            if (its.dim != 0)
                return {};
            result.vectors = loop.name;
        } else if (its.iterations > 1) {
            result.rows = loop.name;
            result.row_dim = its.dim;
            return result.row_dim > 0 ? result : RowLoops();
        }
    }
    return {};
}

class Prefetches {
  public:
    Prefetches(const Plan &plan, const StageGraph &nodes, const graph::Graph &graph,
               const Machine &machine, schedules::Schedule &schedule)
        : plan_(plan), nodes_(nodes), graph_(graph), machine_(machine), schedule_(schedule) {}

    void run() {
        const bool parts = reads_parts_of_rows();
        const bool take_turns =
            plan_.levels.size() > 1 && std::find(plan_.levels.begin() + 1, plan_.levels.end(),
                                                 Level::Row) != plan_.levels.end();
        for (size_t m = plan_.members.size(); m-- > 0;) {
            const Node &node = nodes_.nodes[static_cast<size_t>(plan_.members[m])];
            const bool stops = parts || (m == 0 ? take_turns : plan_.levels[m] == Level::Row);
            StageSchedule &loops = schedule_[node.id].stages[0];
            if (stops && node.stages.size() == 1 && node.role == Role::Free && !loops.touched)
                add_to(node, loops);
            for (const StageCost &stage : node.stages)
                for (const Access &load : stage.loads)
                    read_.push_back(&load);
        }
    }

  private:
    const Plan &plan_;
    const StageGraph &nodes_;
    const graph::Graph &graph_;
    const Machine &machine_;
    schedules::Schedule &schedule_;
    std::vector<const Access *> read_;  // by members that are computed before

    /// Whether a tile has parts of rows, one below the other.
    bool reads_parts_of_rows() const {
        const Node &output = nodes_.nodes[static_cast<size_t>(plan_.output())];
        return !plan_.tile.empty() && plan_.tile[0] < output.extents[0] &&
               std::any_of(plan_.tile.begin() + 1, plan_.tile.end(),
                           [](int64_t n) { return n > 1; });
    }

    void add_to(const Node &node, StageSchedule &stage) {
        const std::vector<Access> &loads = node.stages[0].loads;
        const RowLoops loops = row_loops(stage, graph_[node.id], node);
        if (loops.rows.empty())
            return;
        std::vector<const Access *> done;
        for (const Access &load : loads) {
            if (contains(read_, load) || contains(done, load))
                continue;
            done.push_back(&load);
            if (streams_in(load) &&
                2 * rows_at_once(load, node, stage) <= machine_.prefetched_rows &&
                std::all_of(loads.begin(), loads.end(), [&](const Access &other) {
                    return !other.same_buffer(load) || follows(other, loops.row_dim);
                }))
                stage.prefetches.push_back({name_of(load), loops.vectors, loops.rows, ir::int32(1),
                                            PrefetchBoundStrategy::NonFaulting});
        }
    }

    /// New rows that one vector of the stage reads of a buffer, with those that unrolled loops compute beside it. They move
    /// together with the rows that are prefetched, which only delays both if the processor cannot follow all of them.
    double rows_at_once(const Access &load, const Node &node, const StageSchedule &stage) const {
        std::set<std::vector<int64_t>> planes;
        for (const Access &other : node.stages[0].loads) {
            std::vector<int64_t> plane;
            for (const Coordinate &c : other.coords)
                if (c.iterator < 0)
                    plane.push_back(c.distance.min);
            if (other.same_buffer(load))
                planes.insert(std::move(plane));
        }
        int64_t unrolled = 1;
        for (const Dim &loop : stage.dims)
            if (const auto [dim, iterations] =
                    dimension_of(loop.name, stage, graph_[node.id], node);
                loop.kind == LoopKind::Unrolled && dim > 0 && (poly::uses(load) >> dim & 1))
                unrolled *= iterations;
        return double(planes.size()) * double(unrolled);
    }

    static bool contains(const std::vector<const Access *> &loads, const Access &load) {
        return std::any_of(loads.begin(), loads.end(),
                           [&](const Access *other) { return other->same_buffer(load); });
    }

    const std::string &name_of(const Access &load) const {
        return load.image >= 0 ? graph_.images[static_cast<size_t>(load.image)].name
                               : graph_[load.func].name;
    }

    /// Whether the buffer lies beyond the L2 cache when the group begins.
    bool streams_in(const Access &load) const {
        const double cache = usable_l2 * static_cast<double>(machine_.l2_bytes);
        if (load.image >= 0) {
            const size_t i = static_cast<size_t>(load.image);
            return graph_.images[i].is_named && nodes_.image_bytes[i] > cache && is_dense(load);
        }
        const int n = static_cast<int>(load.func);
        const Node &node = nodes_.nodes[static_cast<size_t>(n)];
        // (One without a level is computed within loops of its readers.)
        if (node.role == Role::Fixed && !schedule_[node.id].compute.root())
            return false;
        return std::find(plan_.members.begin(), plan_.members.end(), n) == plan_.members.end() &&
               node.points() * node.bytes > cache;
    }

    /// Whether its rows may be dense: the channels of an interleaved image share lines.
    bool is_dense(const Access &load) const {
        const auto &dims = graph_.images[static_cast<size_t>(load.image)].promise.dims;
        int64_t stride = 1;
        return dims.empty() || !dims[0].stride.defined() ||
               (ir::as_const_int(dims[0].stride, &stride) && stride == 1);
    }

    /// Whether a vector reads a piece of few rows, which are others in the next iteration over rows. Clamps at
    /// boundaries would be computed for the prefetch as well.
    static bool follows(const Access &load, int row_dim) {
        constexpr int64_t widest = 32;
        bool moves = false;
        for (const Coordinate &c : load.coords) {
            if (!c.distance.bounded() || c.distance.size() > widest || !(c.distance == c.steady))
                return false;
            moves |= c.iterator == row_dim && c.den == 1;
        }
        return moves && load.coords[0].iterator == 0 && load.coords[0].den == 1;
    }
};

}  // namespace

void prefetch_rows(const Plan &plan, const StageGraph &nodes, const graph::Graph &graph,
                   const Machine &machine, schedules::Schedule &schedule) {
    if (plan.prefetches)
        Prefetches(plan, nodes, graph, machine, schedule).run();
}

void drop_unread_prefetches(const graph::Graph &graph, schedules::Schedule &schedule) {
    auto has_ours = [](const schedules::FuncSchedule &f) {
        return !f.stages[0].prefetches.empty() && !f.stages[0].touched;
    };
    if (std::none_of(schedule.funcs.begin(), schedule.funcs.end(), has_ours))
        return;
    const graph::Graph inlined = graph::inline_funcs(graph, schedule);
    for (const FuncNode &func : inlined.funcs) {
        if (!has_ours(schedule[func.id]))
            continue;
        const std::vector<Expr> &values = func.stages[0].values;
        std::erase_if(schedule[func.id].stages[0].prefetches, [&](const auto &prefetch) {
            return std::none_of(values.begin(), values.end(),
                                [&](const Expr &e) { return ir::calls(e, prefetch.source); });
        });
    }
}

}  // namespace Pipe::autoschedule
