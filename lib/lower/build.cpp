#include "lower/build.h"

#include <algorithm>
#include <set>

#include "graph/overwritten.h"
#include "ir/equal.h"
#include "ir/int32.h"
#include "ir/intrinsics.h"
#include "ir/program.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/checks.h"
#include "lower/innermost.h"
#include "lower/lanes.h"
#include "lower/needs.h"
#include "lower/prefetch.h"
#include "lower/register_sums.h"
#include "region/nest_variables.h"
#include "support/error_text.h"

namespace Pipe::lower {

using namespace ir;
using region::Group;
using region::Level;
using region::Range;
using region::StageNest;
using region::Tail;
using support::Field;

namespace {

class Builder {
  public:
    Builder(const region::RegionPlan &plan, Stmt prologue)
        : plan_(plan), tree_(plan.tree), graph_(tree_.graph()), prologue_(std::move(prologue)),
          needs_(tree_) {}

    /// Everything that stands just inside a level, around `inner`.
    Stmt inside(const Level &level, Stmt inner) {
        std::vector<FuncId> stored = tree_.allocated_at(level);
        for (FuncId id : tree_.computed_at(level))
            stored.erase(std::remove(stored.begin(), stored.end(), id), stored.end());
        std::map<FuncId, std::vector<Group>> groups =
            needs_.sort(level, region::production_groups(tree_, level));
        inner = computed_before(level, groups, FuncId::None, std::move(inner));
        for (FuncId id : stored)
            inner = realize(id, std::move(inner));
        if (level.empty())
            inner = make_block({prologue_, std::move(inner)});
        const region::Lets &lets = plan_.names.lets_at(level);
        for (auto let = lets.rbegin(); let != lets.rend(); ++let)
            inner = make_let(let->first, let->second, std::move(inner));
        return inner;
    }

  private:
    /// What is computed at the level for one need, before `inner`.
    Stmt computed_before(const Level &level, std::map<FuncId, std::vector<Group>> &all, FuncId need,
                         Stmt inner) {
        std::vector<Group> groups = std::move(all[need]);
        for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
            std::vector<Stmt> parts;
            for (FuncId id : *group)
                parts.push_back(computation_checks(plan_, id));
            for (Stmt &part : produce(*group))
                parts.push_back(std::move(part));
            if (tree_.schedule()[group->front()].memoize) {
                Stmt production =
                    computed_before(level, all, group->front(), make_block(std::move(parts)));
                inner = memoize(group->front(), std::move(production), std::move(inner));
                continue;
            }
            if (tree_.schedule()[group->front()].async) {
                synchronize(group->front(), parts, inner);
            } else {
                parts.push_back(std::move(inner));
                inner = make_block(std::move(parts));
            }
            for (FuncId id : *group)
                if (tree_.place(id).hoist == level)
                    inner = realize(id, std::move(inner));
        }
        return inner;
    }

    Stmt realize(FuncId id, Stmt body) {
        const graph::FuncNode &func = graph_[id];
        if (func.is_output)
            return body;
        const schedules::FuncSchedule &schedule = tree_.schedule()[id];
        std::vector<Stmt> parts;
        std::vector<Expr> min_extents = shape(id, parts);
        // lower::fork tells the two tasks apart.
        if (schedule.async)
            body = make_fork(func.name, plan_.storage.of(id).slots, body, body);
        parts.push_back(make_realize(func.name, func.types, std::move(min_extents), schedule.memory,
                                     std::move(body)));
        return make_block(std::move(parts));
    }

    /// What is found again must be what would be computed now: where it is needed, and how it lies in memory.
    /// Constants too: they may be others in the code of the next specialization, which shares the entries.
    Stmt memoize(FuncId id, Stmt production, Stmt consumer) {
        const graph::FuncNode &func = graph_[id];
        const schedules::Memoized &memoized = *tree_.schedule()[id].memoize;
        std::vector<Stmt> parts;
        std::vector<Expr> min_extents = shape(id, parts), key = memoized.key;
        for (const region::Interval &i : plan_.storage.of(id).provided)
            key.insert(key.end(), {i.min, i.max});
        key.insert(key.end(), min_extents.begin(), min_extents.end());
        parts.push_back(make_memoize(func.name, func.types, memoized.eviction_key, Expr(), key,
                                     min_extents, std::move(production), std::move(consumer)));
        return make_block(std::move(parts));
    }

    /// min and extent of the storage per dimension; tests of it go to `tests`.
    std::vector<Expr> shape(FuncId id, std::vector<Stmt> &tests) {
        const graph::FuncNode &func = graph_[id];
        std::vector<Expr> min_extents;
        std::vector<Range> ranges = plan_.storage.of(id).allocation;
        for (size_t d = 0; d < ranges.size(); d++) {
            Range &range = ranges[d];
            for (const schedules::StorageDim &s : tree_.schedule()[id].storage_dims)
                if (d < func.args.size() && s.var == func.args[d] && s.bound.defined())
                    tests.push_back(bound_storage(func, s, range));
            min_extents.push_back(range.min);
            min_extents.push_back(range.extent);
        }
        return min_extents;
    }

    /// Allocates the given size, and tests that it is enough.
    Stmt bound_storage(const graph::FuncNode &func, const schedules::StorageDim &dim,
                       Range &range) const {
        Expr needed = range.extent, enough = simplify(make_binary(Op::LE, needed, dim.bound));
        range.extent = dim.bound;
        std::string what = support::marked(Field::Func, func.name) + ".bound_storage(" +
                           support::marked(Field::Dimension, dim.var) + ")" +
                           support::in_parentheses(func.where) + ": ";
        return make_assert(enough, static_cast<int>(Failure::BadConstraint),
                           {make_string(what + support::begin(Field::Needed)), needed,
                            make_string(support::end() + " elements are needed, but only " +
                                        support::begin(Field::Given)),
                            dim.bound,
                            make_string(support::end() + " are allocated. Read by " +
                                        readers_of(tree_, func.name) + ". Increase the bound.")});
    }

    /// The production of an async Func, and what reads it, between semaphores (see Fork in stmt_node.h).
    void synchronize(FuncId id, const std::vector<Stmt> &production, Stmt &inner) {
        const std::string &name = graph_[id].name;
        std::vector<Stmt> produce = production, consume{make_acquire(name + ".ready"), inner};
        if (plan_.storage.of(id).slots.defined()) {
            produce.insert(produce.begin(), make_acquire(name + ".free"));
            consume.push_back(make_release(name + ".free"));
        }
        produce.push_back(make_release(name + ".ready"));
        inner = make_block({make_produce(name, make_block(std::move(produce))),
                            make_consume(name, make_block(std::move(consume)))});
    }

    /// The production of a Func, in those iterations that compute it. (Of a group, others may be computed in its
    /// loops: in all iterations.)
    Stmt produce(FuncId id, Stmt body, const Group &group) {
        Expr when = group.size() == 1 ? plan_.storage.of(id).computing_iterations : Expr();
        if (when.defined())
            body = make_if(when, std::move(body));
        return make_produce(graph_[id].name, std::move(body));
    }

    /// The nests of a group, with every Func's stages in their order.
    std::vector<Stmt> produce(const Group &group) {
        std::vector<const StageNest *> waiting;
        for (FuncId id : group)
            for (const StageNest &nest : tree_.place(id).stages)
                if (tree_.shared_loops(nest) == 0)
                    waiting.push_back(&nest);
        std::map<FuncId, int> next;  // stage
        std::vector<Stmt> parts, stages;
        FuncId of = FuncId::None;  // the stages
        int last = 0;              // of the stages
        auto flush = [&] {
            if (Stmt body = make_block(std::move(stages)); body.defined())
                parts.push_back(produce(of, body, group));
            stages.clear();
        };
        while (!waiting.empty()) {
            auto ready = std::find_if(waiting.begin(), waiting.end(), [&](const StageNest *nest) {
                std::map<FuncId, int> after = next;
                if (!advance(*nest, after))
                    return false;
                next = std::move(after);
                return true;
            });
            if (ready == waiting.end())
                throw_no_order(group[0]);
            if ((*ready)->func != of)
                flush();
            of = (*ready)->func;
            // Where it starts from the pure definition, that needs no loops of its own.
            Stmt stage = in_single_thread(**ready, loops(prepare(**ready), 0));
            if (!stages.empty() && last == 0 && starts_.erase(of) > 0)
                stages.pop_back();
            last = (*ready)->stage;
            stages.push_back(std::move(stage));
            waiting.erase(ready);
        }
        flush();
        return parts;
    }

    /// gpu_single_thread(): the stage is a kernel of one block, which has one thread.
    Stmt in_single_thread(const StageNest &nest, Stmt body) const {
        const auto &stage = tree_.schedule()[nest.func].stages[static_cast<size_t>(nest.stage)];
        if (!stage.single_thread_device)
            return body;
        return make_for(
            region::stage_name(graph_[nest.func], nest.stage) + ".kernel", int32(0), int32(1),
            LoopKind::GPUBlock, std::move(body), Partitioning::Auto,
            origin_of(region::stage_name(graph_[nest.func], nest.stage) + ".kernel", nest));
    }

    /// Counts the stages of a nest and of those that share its loops; false where one is not the next.
    bool advance(const StageNest &nest, std::map<FuncId, int> &next) const {
        if (next[nest.func]++ != nest.stage)
            return false;
        std::vector<const StageNest *> children = tree_.children(nest);
        return std::all_of(children.begin(), children.end(),
                           [&](const StageNest *child) { return advance(*child, next); });
    }

    [[noreturn]] void throw_no_order(FuncId id) const {
        const graph::FuncNode &func = graph_[id];
        throw CompileError(
            "compute_with: the definitions of " + graph::located_name(func) +
            " and of the Funcs whose loops it shares would not run in order. Let fewer "
            "of them share loops.");
    }

    /// One stage's loops from its innermost out to the one at `from`, with those that share them.
    Stmt loops(const Nest &nest, size_t from) {
        Stmt body = innermost(plan_, nest);
        if (const auto sums = register_sums(plan_, nest, body)) {
            Nest inside = nest;
            inside.kept_inside = sums->kept_inside;
            if (Stmt kept = keep_sums(inside, *sums); kept.defined()) {
                if (sums->starts)
                    starts_.insert(nest.stage->func);
                return loops_around(inside, from, sums->outermost,
                                    whole_or_guarded(inside, *sums, std::move(kept)));
            }
        }
        return loops_around(nest, from, nest.stage->loops.size(), std::move(body));
    }

    /// The loops of a stage from the one outside of `p` out to the one at `from`.
    Stmt loops_around(const Nest &nest, size_t from, size_t p, Stmt body) {
        while (p-- > from) {
            if (p + 1 == nest.shared)
                body = within_shared(nest, std::move(body));
            std::vector<Stmt> parts{body};
            for (const Nest &child : nest.children)
                if (tree_.shared_loops(*child.stage) == p + 1)
                    parts.push_back(
                        make_produce(graph_[child.stage->func].name, loops(child, p + 1)));
            body = one_loop(nest, p, make_block(std::move(parts)));
        }
        return from > 0 && nest.shared == from ? within_shared(nest, std::move(body)) : body;
    }

    /// The sums of whole blocks without guards, where the extents of the splits that keep inside are not less than a block.
    Stmt whole_or_guarded(const Nest &nest, const RegisterSums &sums, Stmt guarded) {
        std::vector<Tail> tails = nest.tails;
        Expr is_whole;
        for (size_t i = 0; i < tails.size(); i++) {
            if (!nest.kept_inside[i])
                continue;
            const schedules::Transform &t = nest.stage->transforms[i];
            tails[i] = Tail::None;
            is_whole =
                both(is_whole, make_binary(Op::GE, nest.ranges.at(t.old_name).extent, t.factor));
        }
        if (!is_whole.defined())
            return guarded;
        const Nest whole{nest.stage,  nest.ranges,   tails,
                         nest.shared, nest.children, nest.kept_inside};
        return make_if(is_whole, keep_sums(whole, sums), std::move(guarded));
    }

    /// The loops over RVars between a nest that loads the block's elements into arrays and one that stores
    /// them; undefined where the two would need what is known inside the loops over RVars only.
    Stmt keep_sums(const Nest &nest, const RegisterSums &sums) {
        Stmt load = sums.load, update = sums.update, store = sums.store;
        for (size_t p = nest.stage->loops.size(); p-- > sums.terms;)
            update = one_loop(nest, p, std::move(update));
        for (size_t p = sums.terms; p-- > sums.block;) {
            load = one_loop(nest, p, std::move(load));
            update = one_loop(nest, p, std::move(update));
            store = one_loop(nest, p, std::move(store));
        }
        for (size_t p = sums.block; p-- > sums.outermost;)
            update = one_loop(nest, p, std::move(update));
        std::set<std::string> bound;  // outside the block
        const std::vector<region::StageLoop> &all = nest.stage->loops;
        const region::Level block =
            sums.block < all.size() ? all[sums.block].name : region::Level();
        auto outside = [&](const Stmt &s) {
            if (s->op == StmtOp::For || s->op == StmtOp::Let)
                bound.insert(s->name);
            return s->op != StmtOp::For || s->name != block;
        };
        walk(update, outside, [](const Expr &) { return false; });
        bound.erase(block);
        if (uses_any_var(load, bound))
            return Stmt();
        Stmt body = make_block({std::move(load), std::move(update), std::move(store)});
        const std::vector<Type> &types = graph_[nest.stage->func].types;
        for (size_t i = 0; i < types.size(); i++)
            body = make_allocate(sums.arrays[i], types[i], {int32(sums.elements)}, MemoryType::Auto,
                                 std::move(body));
        return body;
    }

    Nest prepare(const StageNest &stage) {
        Nest nest{&stage,
                  plan_.demand.of(stage).ranges,
                  plan_.tails.of(stage).tails,
                  tree_.shared_loops(stage),
                  {},
                  {}};
        for (const StageNest *child : tree_.children(stage)) {
            nest.shared = std::max(nest.shared, tree_.shared_loops(*child));
            nest.children.push_back(prepare(*child));
        }
        return nest;
    }

    Stmt one_loop(const Nest &nest, size_t p, Stmt body) {
        const region::StageLoop &loop = nest.stage->loops[p];
        body =
            inside(loop.name, make_block({prefetches(plan_, *nest.stage, loop), std::move(body)}));
        if (p >= nest.shared)
            body = tests_at(nest, p, std::move(body));
        body = variables_at(nest, p, std::move(body));
        const Range &range = plan_.demand.loop(loop.name);
        return make_for(loop.name, range.min, range.extent, plan_.tails.of(*nest.stage).kinds[p],
                        std::move(body), partitioning(loop.dim.partition),
                        origin_of(loop.name, *nest.stage));
    }

    /// The name of a loop is that of a stage, a dot, and the variable: of the stage at hand, or of that which owns
    /// a loop shared by compute_with.
    std::shared_ptr<const LoopOrigin> origin_of(const std::string &loop,
                                                const StageNest &at_hand) const {
        auto of_stage = [&](FuncId id, int stage) -> std::shared_ptr<const LoopOrigin> {
            const graph::FuncNode &func = graph_[id];
            const std::string prefix = region::stage_name(func, stage) + ".";
            if (!loop.starts_with(prefix))
                return nullptr;
            return std::make_shared<const LoopOrigin>(LoopOrigin{
                located_name(func, static_cast<size_t>(stage)), loop.substr(prefix.size())});
        };
        if (auto own = of_stage(at_hand.func, at_hand.stage))
            return own;
        for (const graph::FuncNode &func : graph_.funcs)
            for (size_t stage = 0; stage < func.stages.size(); stage++)
                if (auto owner = of_stage(func.id, static_cast<int>(stage)))
                    return owner;
        return nullptr;
    }

    /// The tests of guarded splits whose variable becomes known inside loop p.
    Stmt tests_at(const Nest &nest, size_t p, Stmt body) {
        const std::vector<schedules::Transform> &transforms = nest.stage->transforms;
        for (size_t i = 0; i < transforms.size(); i++) {
            const std::string &var = transforms[i].old_name;
            if (nest.tails[i] != Tail::Guard || nest.stage->known_in.at(var) != p)
                continue;
            const Range &range = nest.ranges.at(var);
            const bool kept = i < nest.kept_inside.size() && nest.kept_inside[i];
            body =
                make_if(kept ? make_binary(Op::LT, tree_.variable(*nest.stage, transforms[i].inner),
                                           range.extent)
                             : make_binary(Op::LE, tree_.variable(*nest.stage, var), range.max()),
                        std::move(body));
        }
        return only_read_points(nest, p, std::move(body));
    }

    /// Of a pure definition, not the points that the first update stores over.
    Stmt only_read_points(const Nest &nest, size_t p, Stmt body) const {
        const StageNest &stage = *nest.stage;
        if (stage.stage != 0 || tree_.schedule()[stage.func].trace.stores)
            return body;
        const graph::FuncNode &func = graph_[stage.func];
        const auto unread = graph::overwritten(func);
        if (!unread || stage.known_in.at(func.args[unread->dim]) != p)
            return body;
        const Expr at = tree_.variable(stage, func.args[unread->dim]);
        // Loops are partitioned for the points that are not read, where nothing is left to do.
        const Expr skipped = make_call(Bool(), intrinsic::likely,
                                       {make_binary(Op::And, make_binary(Op::GE, at, unread->min),
                                                    make_binary(Op::LE, at, unread->max))},
                                       CallKind::Intrinsic);
        return make_if(make_not(skipped), std::move(body));
    }

    /// The lets of the variables that become known inside loop p, also of the stages that share the loop.
    Stmt variables_at(const Nest &nest, size_t p, Stmt body) {
        const region::Lets lets = region::variables_at(plan_, *nest.stage, p, nest.kept_inside);
        for (auto let = lets.rbegin(); let != lets.rend(); ++let)
            body = make_let(let->first, let->second, std::move(body));
        for (const Nest &child : nest.children)
            if (p < tree_.shared_loops(*child.stage))
                body = variables_at(child, p, std::move(body));
        return body;
    }

    /// A stage's part of loops that it shares: only where its own range is, and its own tails end.
    Stmt within_shared(const Nest &nest, Stmt body) {
        for (size_t p = nest.shared; p-- > 0;) {
            const region::StageLoop &loop = nest.stage->loops[p];
            const Range &all = plan_.demand.loop(loop.name), &own = nest.ranges.at(loop.dim.name);
            Expr at = tree_.variable(*nest.stage, loop.dim.name),
                 moved = plan_.names.shift(tree_, *nest.stage, loop);
            if (!prove_le(own.min, add(all.min, moved)))
                body = make_if(make_binary(Op::GE, at, own.min), std::move(body));
            if (!prove_le(add(all.max(), moved), own.max()))
                body = make_if(make_binary(Op::LE, at, own.max()), std::move(body));
            body = tests_at(nest, p, std::move(body));
        }
        return body;
    }

    const region::RegionPlan &plan_;
    const region::LoopTree &tree_;
    const graph::Graph &graph_;
    Stmt prologue_;
    Needs needs_;
    std::set<FuncId> starts_;  ///< Funcs whose first update evaluates their pure definition
};

}  // namespace

Stmt build(const region::RegionPlan &plan, Stmt prologue) {
    return Builder(plan, std::move(prologue)).inside("", Stmt());
}

}  // namespace Pipe::lower
