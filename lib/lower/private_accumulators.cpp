#include "lower/private_accumulators.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/factor.h"
#include "graph/loops.h"
#include "graph/names.h"
#include "graph/narrow_sum.h"
#include "graph/renumber.h"
#include "ir/int32.h"
#include "ir/simplify.h"
#include "ir/visit.h"

namespace Pipe::lower {

namespace {

using graph::FuncNode;
using schedules::Dim;
using schedules::FuncSchedule;
using schedules::LoopLevel;
using schedules::StageSchedule;

constexpr int64_t max_tasks = 64;

/// Whether data name the elements that the update stores, and little is computed: nothing gains from vectors, since lanes
/// are stored one by one.
bool is_plain_scatter(const graph::Stage &update) {
    constexpr int little = 8;  // operations besides loads
    bool scatters = false;
    int operations = 0;
    auto is_load = [](const ir::ExprNode &e) {
        return e.op == ir::Op::Call &&
               (e.call_kind == ir::CallKind::Func || e.call_kind == ir::CallKind::Image);
    };
    auto count = [&](const ir::ExprNode &e) {
        operations += !e.args.empty() && !is_load(e) && e.op != ir::Op::Cast;
        return !is_load(e);
    };
    for (const Expr &arg : update.args) {
        scatters |= ir::reads_elements(arg);
        ir::each_node(arg, count);
    }
    for (const Expr &value : update.values)
        ir::each_node(value, count);
    return scatters && operations <= little;
}

Expr call(const FuncNode &func, Type type, const ir::ExprNode &self, std::vector<Expr> args) {
    auto *node = new ir::ExprNode(ir::Op::Call, type);
    node->call_kind = ir::CallKind::Func;
    node->index = self.index;
    node->int_value = static_cast<int64_t>(func.id);
    node->args = std::move(args);
    node->name = func.name;
    return Expr(node);
}

class Privatizer {
  public:
    Privatizer(const graph::Graph &graph, const schedules::Schedule &schedule)
        : graph_(graph), schedule_(schedule) {
        for (const FuncNode &f : graph.funcs)
            taken_.insert(f.name);
        for (const graph::Image &image : graph.images)
            taken_.insert(image.name);
        for (const graph::Scalar &scalar : graph.scalars)
            taken_.insert(scalar.name);
    }

    std::pair<graph::Graph, schedules::Schedule> run(std::vector<poly::SharedLoop> loops) {
        // The parts of parallel loops contain those of the lanes of scatters, which are combined once.
        std::stable_partition(loops.begin(), loops.end(), [&](const poly::SharedLoop &loop) {
            return is_plain_scatter(graph_[loop.func].stages[static_cast<size_t>(loop.stage)]) &&
                   kind_of(loop) == LoopKind::Vectorized;
        });
        std::map<std::pair<FuncId, int>, std::pair<FuncId, int>> now;  // where a stage's loops went
        for (const poly::SharedLoop &loop : loops) {
            auto &at =
                now.try_emplace({loop.func, loop.stage}, loop.func, loop.stage).first->second;
            at = {split_off(at.first, static_cast<size_t>(at.second), loop.loop), 1};
        }
        graph::Graph result = renumbered();
        return {std::move(result), std::move(schedule_)};
    }

  private:
    graph::Graph graph_;
    schedules::Schedule schedule_;
    std::set<std::string> taken_;
    std::map<FuncId, FuncId> before_;  // new Func -> the one that it was made from
    std::map<FuncId, graph::Reduction> reductions_;  // of the new Funcs: the same as of the old one

    LoopKind kind_of(const poly::SharedLoop &loop) const {
        for (const Dim &d : schedule_[loop.func].stages[static_cast<size_t>(loop.stage)].dims)
            if (d.name == loop.loop)
                return d.kind;
        return LoopKind::Serial;
    }

    FuncId split_off(FuncId id, size_t stage, const std::string &loop) {
        StageSchedule &loops = schedule_[id].stages[stage];
        auto dim = std::find_if(loops.dims.begin(), loops.dims.end(),
                                [&](const Dim &d) { return d.name == loop; });
        LoopKind kind = dim->kind;
        if (kind == LoopKind::Parallel)
            limit_tasks(graph_[id].stages[stage], loops, dim);
        if (kind == LoopKind::Vectorized && is_plain_scatter(graph_[id].stages[stage]))
            kind = dim->kind = LoopKind::Unrolled;

        std::optional<ir::NarrowTerm> narrow;
        if (kind == LoopKind::Vectorized)
            narrow = add_lanes_first(id, stage, loop);
        FuncNode part;
        std::string var;
        graph::Factored made = factored(id, stage, loop, part, var);
        if (narrow && !narrow->is_product)
            sum_in_64_bits(part, made);
        const Place place = is_gpu(kind) ? place_for_gpu(id, stage, made.merge_loops, kind)
                                         : place_of(id, stage, made.merge_loops, loop);
        split_points_by_1(made.update_loops, place.around);
        FuncSchedule placed;
        placed.touched = true;
        placed.compute = placed.store = place.level;
        placed.stages = {is_gpu(kind) ? pure_loops(part, made.update_loops)
                                      : initial_loops(part, kind),
                         made.update_loops};
        part.holds_parts = true;
        if (kind == LoopKind::GPUBlock)
            combine_in_kernel(made.merge_loops);
        if (kind == LoopKind::Vectorized) {
            placed.storage_order = part.args;
            std::rotate(placed.storage_order.begin(), placed.storage_order.end() - 1,
                        placed.storage_order.end());
            combine_lanes(made.merge_loops, loop, part.types.size());
            combine_halves(part, placed, made.merge, loop);
        }
        if (kind == LoopKind::Parallel)
            combine_tables(made.merge_loops, loop);
        move_levels(id, stage, place.around, {{loop, var}}, part.id);
        before_[part.id] = id;
        graph_.funcs[static_cast<size_t>(id)].stages[stage] = std::move(made.merge);
        schedule_[id].stages[stage] = std::move(made.merge_loops);
        graph_.funcs.push_back(std::move(part));
        schedule_.funcs.push_back(std::move(placed));
        return graph_.funcs.back().id;
    }

    /// Where the processor adds up neighboring lanes of narrow terms by one instruction: a loop over them, in vectors, inside
    /// of the loop over lanes that have accumulators.
    std::optional<ir::NarrowTerm> add_lanes_first(FuncId id, size_t stage,
                                                  const std::string &loop) {
        StageSchedule &loops = schedule_[id].stages[stage];
        const auto term = graph::narrow_sum(graph_[id], stage);
        int64_t lanes = 0;
        if (!term ||
            !ir::as_const_int(graph::rvar_extent(graph_[id].stages[stage], loops, loop), &lanes) ||
            lanes % term->lanes_per_sum() != 0)
            return std::nullopt;
        const std::string inner = loop + "_sum";
        loops.transforms.push_back({schedules::Transform::Kind::Split, loop, loop, inner,
                                    ir::int32(term->lanes_per_sum()), TailStrategy::GuardWithIf});
        const auto dim = std::find_if(loops.dims.begin(), loops.dims.end(),
                                      [&](const Dim &d) { return d.name == loop; });
        loops.dims.insert(dim, {inner, LoopKind::Vectorized, true});
        return term;
    }

    /// Sums of bytes are of 64 bits: they are cast to the Func's type when they are combined.
    static void sum_in_64_bits(FuncNode &part, graph::Factored &made) {
        const Type old = part.types[0], type = UInt(64);
        part.types[0] = type;
        const graph::IsSelf is_part = graph::calls_of(part.id);
        auto with_type = [&](const Expr &self) { return call(part, type, *self, self->args); };
        part.stages[0].values = {ir::make_const(type, 0)};
        Expr &sum = part.stages[1].values[0];
        const bool first = is_part(*sum->a());
        sum = ir::make_binary(ir::Op::Add, with_type(first ? sum->a() : sum->b()),
                              ir::make_cast(type, first ? sum->b() : sum->a()));
        // f + part, or part + f
        Expr &total = made.merge.values[0];
        total = ir::map_children(total, [&](const Expr &e) {
            return is_part(*e) ? ir::make_cast(old, with_type(e)) : e;
        });
    }

    /// Fills in the new Func and its Var.
    graph::Factored factored(FuncId id, size_t stage, const std::string &loop, FuncNode &part,
                             std::string &var) {
        const FuncNode &func = graph_[id];
        part.id = static_cast<FuncId>(graph_.funcs.size());
        part.name = graph::unique_name(func.name + "_parts", taken_);
        var = loop + "_part";
        while (std::count(func.args.begin(), func.args.end(), var) > 0)
            var += "'";
        graph::Factoring from{func.args,
                              func.stages[stage],
                              schedule_[id].stages[stage],
                              {{loop, var}},
                              graph::calls_of(id),
                              [&](const ir::ExprNode &self, std::vector<Expr> args) {
                                  return call(part, self.type, self, std::move(args));
                              }};
        std::string why;
        auto known = reductions_.find(id);
        const auto reduction = known != reductions_.end() ? std::optional(known->second)
                                                          : graph::as_reduction(func, stage, &why);
        auto result = reduction ? graph::factor(from, *reduction, &why) : std::nullopt;
        if (!result)
            throw InternalError("no accumulators for " + loop + " of " + func.name + ": " + why);
        reductions_.emplace(part.id, *reduction);
        part.args = result->args;
        part.types = func.types;
        part.where = func.where;
        part.stages = {result->initial, result->update};
        return std::move(*result);
    }

    static void limit_tasks(const graph::Stage &stage, StageSchedule &loops,
                            std::vector<Dim>::iterator dim) {
        Expr extent = graph::rvar_extent(stage, loops, dim->name);
        int64_t known = 0;
        if (ir::as_const_int(extent, &known) && known <= max_tasks)
            return;
        Expr each = ir::max(
            ir::div(ir::add(extent, ir::int32(max_tasks - 1)), ir::int32(max_tasks)), ir::int32(1));
        std::string inner = dim->name + "_each";
        loops.transforms.push_back({schedules::Transform::Kind::Split, dim->name, dim->name, inner,
                                    ir::simplify(each), TailStrategy::GuardWithIf});
        for (schedules::Prefetch &p : loops.prefetches)
            for (std::string *name : {&p.at, &p.from})
                if (*name == dim->name)
                    *name = inner;
        loops.dims.insert(dim, {inner, LoopKind::Serial, true});
    }

    static StageSchedule initial_loops(const FuncNode &part, LoopKind kind) {
        StageSchedule loops;
        loops.dims = graph::initial_loops(part.args, part.stages[0]);
        if (kind == LoopKind::Vectorized) {
            loops.dims.back().kind = kind;
            std::rotate(loops.dims.begin(), loops.dims.end() - 1, loops.dims.end());
        }
        return loops;
    }

    /// Those of an update without its reductions; and of what it has no loop over, because data name the elements that it
    /// stores.
    static StageSchedule pure_loops(const FuncNode &part, const StageSchedule &update) {
        StageSchedule loops;
        loops.transforms = update.transforms;
        std::set<std::string> looped;
        for (const schedules::Transform &t : update.transforms)
            looped.insert({t.old_name, t.inner, t.outer});
        for (const Dim &d : update.dims)
            looped.insert(d.name);
        for (const std::string &arg : part.args)
            if (!looped.count(arg))
                loops.dims.push_back({arg, LoopKind::Serial, false});
        for (const Dim &d : update.dims)
            if (!d.is_reduction)
                loops.dims.push_back(d);
        return loops;
    }

    static void combine_in_kernel(StageSchedule &merge) {
        if (std::none_of(merge.dims.begin(), merge.dims.end(),
                         [](const Dim &d) { return is_gpu(d.kind); }))
            merge.single_thread_device = DeviceAPI::Default_GPU;
    }

    static void combine_lanes(StageSchedule &merge, const std::string &loop, size_t values) {
        bool has_vector = std::any_of(merge.dims.begin(), merge.dims.end(),
                                      [](const Dim &d) { return d.kind == LoopKind::Vectorized; });
        for (Dim &d : merge.dims)
            if (d.name == loop && values == 1 && !has_vector)
                d.kind = LoopKind::Vectorized;
    }

    /// The values of a Tuple in two halves of the lanes, lane by lane, until one lane is left, or an odd number: as vectors, where
    /// a loop over all lanes would wait for each value before it combines the next.
    void combine_halves(FuncNode &part, FuncSchedule &placed, graph::Stage &merge,
                        const std::string &loop) {
        const graph::Reduction &reduction = reductions_.at(part.id);
        const auto rvar = std::find_if(merge.rvars.begin(), merge.rvars.end(),
                                       [&](const auto &r) { return r.name == loop; });
        int64_t lanes = 0;
        if (part.types.size() == 1 || !reduction.any_parts || reduction.needs_points ||
            merge.predicate.defined() || rvar == merge.rvars.end() ||
            !ir::as_const_int(rvar->extent, &lanes))
            return;
        for (; lanes % 2 == 0; lanes /= 2) {
            const std::string lane = loop + "_half";
            std::vector<Expr> at;
            for (const std::string &arg : part.args)
                at.push_back(ir::make_variable(Int(32), arg == part.args.back() ? lane : arg));
            std::vector<Expr> other = at;
            other.back() = ir::add(at.back(), ir::int32(static_cast<int32_t>(lanes / 2)));
            graph::Stage half;
            half.args = at;
            half.where = merge.where;
            half.rvars = {{lane, ir::int32(0), ir::int32(static_cast<int32_t>(lanes / 2))}};
            half.values = reduction.combine(values_at(part, at), values_at(part, other));
            StageSchedule loops;
            loops.dims = graph::initial_loops(part.args, half);
            loops.touched = true;
            for (Dim &d : loops.dims)
                if (d.name == lane)
                    d.kind = LoopKind::Vectorized;
            part.stages.push_back(std::move(half));
            placed.stages.push_back(std::move(loops));
        }
        rvar->extent = ir::int32(static_cast<int32_t>(lanes));
    }

    static std::vector<Expr> values_at(const FuncNode &func, const std::vector<Expr> &args) {
        std::vector<Expr> values;
        for (size_t i = 0; i < func.types.size(); i++) {
            ir::ExprNode element(ir::Op::Call, func.types[i]);
            element.index = static_cast<int>(i);
            values.push_back(call(func, func.types[i], element, args));
        }
        return values;
    }

    /// Of a scatter, whole tables are combined: in vectors along their rows.
    static void combine_tables(StageSchedule &merge, const std::string &loop) {
        constexpr int lanes = 16;
        std::vector<Dim> &dims = merge.dims;
        if (dims.size() < 2 || dims[0].name != loop || dims[1].is_reduction ||
            dims[1].kind != LoopKind::Serial)
            return;
        const std::string row = dims[1].name, inner = row + "_lanes";
        merge.transforms.push_back({schedules::Transform::Kind::Split, row, row, inner,
                                    ir::int32(lanes), TailStrategy::GuardWithIf});
        dims.insert(dims.begin(), {inner, LoopKind::Vectorized, false});
        std::swap(dims[1], dims[2]);
    }

    /// Where the new Func is computed.
    struct Place {
        LoopLevel level;
        /// The loops of the old stage that stand around it: for one point of each.
        std::set<std::string> around;
    };

    /// As far in as possible. But what is stored further out than it is computed must not come inside of
    /// loops, perhaps parallel ones, that were not around it.
    Place place_of(FuncId id, size_t stage, const StageSchedule &merge,
                   const std::string &loop) const {
        Place place = place_inside(id, stage, merge, loop, false);
        return is_stored_outside(id, stage, place.around)
                   ? place_inside(id, stage, merge, loop, true)
                   : place;
    }

    /// Inside the outer loops of what combines the parts (`merge`), else where the old Func is.
    /// `only_old_ones`: which were the outer loops of the old stage, too, in which loops over RVars may stand
    /// around them.
    Place place_inside(FuncId id, size_t stage, const StageSchedule &merge, const std::string &loop,
                       bool only_old_ones) const {
        Place inside{{LoopLevel::Kind::At, id, static_cast<int>(stage), ""}, {}};
        const std::vector<Dim> &old = schedule_[id].stages[stage].dims;
        auto outermost = old.rbegin();
        for (size_t d = merge.dims.size(); d-- > 0 && merge.dims[d].name != loop;) {
            const Dim &dim = merge.dims[d];
            if (only_old_ones && (outermost == old.rend() || outermost++->name != dim.name))
                break;
            bool is_new = std::none_of(old.begin(), old.end(),
                                       [&](const Dim &o) { return o.name == dim.name; });
            if (is_new || dim.is_reduction || needs_constant_extent(dim.kind))
                break;
            inside.level.var = dim.name;
            inside.around.insert(dim.name);
        }
        return inside.around.empty() ? at_level_of(id) : inside;
    }

    /// Of threads: inside the loops over blocks of what combines the parts. Else where the old Func is.
    Place place_for_gpu(FuncId id, size_t stage, const StageSchedule &merge, LoopKind kind) const {
        Place inside{{LoopLevel::Kind::At, id, static_cast<int>(stage), ""}, {}};
        for (size_t d = merge.dims.size();
             kind != LoopKind::GPUBlock && d-- > 0 && merge.dims[d].kind == LoopKind::GPUBlock;) {
            inside.level.var = merge.dims[d].name;
            inside.around.insert(merge.dims[d].name);
        }
        return inside.around.empty() ? at_level_of(id) : inside;
    }

    Place at_level_of(FuncId id) const {
        const LoopLevel &own = schedule_[id].compute;
        return {own.inlined() ? LoopLevel{LoopLevel::Kind::At, id, 0, schedules::outermost_loop}
                              : own,
                {}};
    }

    /// The old stage's loops at which Funcs stay that are computed or stored there: the others are the new
    /// Func's now.
    std::set<std::string> staying(FuncId id, size_t stage,
                                  const std::set<std::string> &around) const {
        std::set<std::string> stay;
        if (!around.empty())
            stay.insert(schedules::outermost_loop);
        const std::vector<Dim> &dims = schedule_[id].stages[stage].dims;
        for (auto d = dims.rbegin(); d != dims.rend() && around.count(d->name); ++d)
            stay.insert(d->name);
        return stay;
    }

    /// Whether a Func that would be computed in loops of the new Func has memory outside of them.
    bool is_stored_outside(FuncId id, size_t stage, const std::set<std::string> &around) const {
        const std::set<std::string> stay = staying(id, stage, around);
        auto moves = [&](LoopLevel level) {  // itself, or what it is inside of
            for (; level.at(); level = schedule_[level.func].compute)
                if (level.func == id && level.stage == static_cast<int>(stage) &&
                    !stay.count(level.var))
                    return true;
            return false;
        };
        return std::any_of(schedule_.funcs.begin(), schedule_.funcs.end(),
                           [&](const FuncSchedule &s) {
                               // (One without a level of its own is computed where it is read, wherever that is.)
                               return (s.compute.inlined() || moves(s.compute)) &&
                                      ((!s.store.inlined() && !moves(s.store)) ||
                                       (!s.hoist.inlined() && !moves(s.hoist)));
                           });
    }

    /// The new Func is computed for one point of the loops around it. Where such loops are all that a split made,
    /// it splits by 1: its tail would compute a whole factor at each point.
    static void split_points_by_1(StageSchedule &loops, std::set<std::string> points) {
        using Kind = schedules::Transform::Kind;
        for (Dim &d : loops.dims)
            if (points.count(d.name))
                d.kind = LoopKind::Serial;
        for (auto t = loops.transforms.rbegin(); t != loops.transforms.rend(); ++t) {
            bool split = t->kind == Kind::Split;
            if (t->kind == Kind::Fuse) {
                if (points.count(t->old_name))
                    points.insert({t->outer, t->inner});
                continue;
            }
            if (!points.count(t->outer) || (split && !points.count(t->inner)))
                continue;
            points.insert(t->old_name);
            if (split) {
                for (schedules::Prefetch &p : loops.prefetches)
                    if (p.from == t->outer)
                        p.offset = ir::mul(p.offset, t->factor);
                t->factor = ir::int32(1);
                t->tail = TailStrategy::GuardWithIf;
            }
        }
    }

    /// What was computed at loops of the old stage that the new Func has now (all but the outer ones that stand
    /// around it) is computed there, as that reads it. `renamed`: loops of the old stage that have new names.
    void move_levels(FuncId id, size_t stage, const std::set<std::string> &around,
                     const std::map<std::string, std::string> &renamed, FuncId part) {
        const std::set<std::string> stay = staying(id, stage, around);
        for (FuncSchedule &s : schedule_.funcs)
            for (LoopLevel *level : {&s.compute, &s.store, &s.hoist})
                if (level->at() && level->func == id && level->stage == static_cast<int>(stage) &&
                    !stay.count(level->var)) {
                    auto now = renamed.find(level->var);
                    *level = {LoopLevel::Kind::At, part, 1,
                              now == renamed.end() ? level->var : now->second};
                }
    }

    // New numbers: producers come before consumers.

    graph::Graph renumbered() {
        std::vector<size_t> order;  // old numbers in the new order
        std::map<FuncId, std::vector<FuncId>> made_from;
        for (const auto &[part, from] : before_)
            made_from[from].push_back(part);
        auto emit = [&](auto &&self, FuncId id) -> void {
            for (FuncId part : made_from[id])
                self(self, part);
            order.push_back(static_cast<size_t>(id));
        };
        size_t originals = graph_.funcs.size() - before_.size();
        for (size_t i = 0; i < originals; i++)
            emit(emit, static_cast<FuncId>(i));

        graph::Graph result = graph_;
        graph::renumber(result, schedule_, order);
        graph::connect(result,
                       [&](const FuncNode &f) { return f.is_output || !was_unused(order, f); });
        return result;
    }

    /// Funcs that are inlined have no consumers, and count as none.
    bool was_unused(const std::vector<size_t> &order, const FuncNode &f) const {
        size_t old = order[static_cast<size_t>(f.id)];
        return !before_.count(static_cast<FuncId>(old)) && graph_.funcs[old].consumers.empty();
    }
};

}  // namespace

std::pair<graph::Graph, schedules::Schedule>
private_accumulators(const graph::Graph &graph, const schedules::Schedule &schedule,
                     const std::vector<poly::SharedLoop> &loops) {
    if (loops.empty())
        return {graph, schedule};
    return Privatizer(graph, schedule).run(loops);
}

}  // namespace Pipe::lower
