#include "lower/register_sums.h"

#include <algorithm>
#include <set>

#include "graph/reduction.h"
#include "graph/scatter.h"
#include "ir/equal.h"
#include "ir/int32.h"
#include "ir/intrinsics.h"
#include "ir/visit.h"

namespace Pipe::lower {

using namespace ir;
using region::StageLoop;
using region::StageNest;
using region::Tail;

namespace {

constexpr int64_t most_bytes = 8192;  ///< beyond, no registers hold them

bool is_pure_block_loop(const StageLoop &loop) {
    return !loop.dim.is_reduction && needs_constant_extent(loop.dim.kind);
}

class Finder {
  public:
    Finder(const region::RegionPlan &plan, const Nest &nest)
        : plan_(plan), tree_(plan.tree), loops_(plan.demand.loops), nest_(nest),
          stage_(*nest.stage), func_(tree_.graph()[stage_.func]),
          allocation_(plan.storage.of(stage_.func).allocation) {}

    std::optional<RegisterSums> run(const Stmt &innermost) {
        if (!find_loops() || !is_plain_stage() || !find_extents())
            return std::nullopt;
        const Stmt &provide = innermost->op == StmtOp::If && !innermost->else_case().defined()
                                  ? innermost->then_case()
                                  : innermost;
        if (!find_coordinates(provide))
            return std::nullopt;
        Reader reader(*this);
        result_.update = reader.mutate(innermost);
        if (!reader.only_own_elements)
            return std::nullopt;
        result_.update = with_stores_to_sums(result_.update);
        make_copies();
        return result_;
    }

  private:
    /// [pure loops, serial] [RVars] [block] [vectorized RVars]
    bool find_loops() {
        const auto &loops = stage_.loops;
        size_t p = loops.size();
        while (stores_every_point() && p > 0 && loops[p - 1].dim.is_reduction &&
               loops[p - 1].dim.kind == LoopKind::Vectorized)
            p--;
        result_.terms = p;
        while (p > 0 && is_pure_block_loop(loops[p - 1]))
            p--;
        result_.block = p;
        while (p > 0 && loops[p - 1].dim.is_reduction && !is_unordered(loops[p - 1].dim.kind))
            p--;
        result_.outermost = p;
        const bool in_vector =
            std::any_of(loops.begin(), loops.begin() + static_cast<long>(p),
                        [](const StageLoop &l) { return l.dim.kind == LoopKind::Vectorized; });
        // A thread of a GPU keeps a single sum, too: it would go through memory in each iteration.
        in_thread_ =
            std::any_of(loops.begin(), loops.begin() + static_cast<long>(p),
                        [](const StageLoop &l) { return l.dim.kind == LoopKind::GPUThread; });
        // Iterations of an RVar that a guard leaves out would store an element that another one changes meanwhile.
        const bool in_shared = std::any_of(
            loops.begin(), loops.begin() + static_cast<long>(p),
            [](const StageLoop &l) { return l.dim.is_reduction && is_unordered(l.dim.kind); });
        return (result_.block < result_.terms || in_thread_) && !in_vector && !in_shared &&
               p < result_.block && nest_.shared <= p;
    }

    /// Whether no RVar says where something is stored.
    bool stores_every_point() const {
        const std::vector<Expr> &args = func_.stages[static_cast<size_t>(stage_.stage)].args;
        return std::equal(args.begin(), args.end(), func_.args.begin(), func_.args.end(),
                          [](const Expr &arg, const std::string &name) {
                              return arg->op == Op::Variable && arg->name == name;
                          });
    }

    /// Nothing observes or orders the accesses to single elements, and nothing else stands in the block.
    bool is_plain_stage() const {
        const schedules::FuncSchedule &f = tree_.schedule()[stage_.func];
        if (stage_.stage == 0 || f.trace.loads || f.trace.stores || f.async)
            return false;
        for (size_t p = result_.block; p < stage_.loops.size(); p++)
            if (const region::Level &level = stage_.loops[p].name;
                !tree_.computed_at(level).empty() || !tree_.allocated_at(level).empty())
                return false;
        return std::all_of(nest_.tails.begin(), nest_.tails.end(), [](Tail t) {
            return t == Tail::None || t == Tail::Guard || t == Tail::RoundUp;
        });
    }

    bool find_extents() {
        int64_t bytes = 0;
        for (Type t : func_.types)
            bytes += t.bytes();
        for (size_t p = result_.terms; p-- > result_.block;) {
            const region::Range &range = loops_.at(stage_.loops[p].name);
            int64_t extent = 0;
            if (!as_const_int(range.extent, &extent) || extent < 1 ||
                __builtin_mul_overflow(result_.elements, extent, &result_.elements) ||
                result_.elements > most_bytes / bytes)
                return false;
            const Expr at = sub(make_variable(Int(32), stage_.loops[p].name), range.min);
            const Expr step = int32(result_.elements / extent);
            index_ = index_.defined() ? add(index_, mul(at, step)) : at;
        }
        if (!index_.defined())
            index_ = int32(0);
        return true;
    }

    bool find_coordinates(const Stmt &provide) {
        if (provide->op != StmtOp::Provide || provide->name != func_.name || provide->atomic ||
            provide->predicate().defined())
            return false;
        coordinates_.assign(provide->exprs.begin() + 1 + provide->num_values, provide->exprs.end());
        return std::none_of(coordinates_.begin(), coordinates_.end(), [](const Expr &e) {
            return reads_elements(e) || contains(e, [](const ExprNode &n) {
                       return n.op == Op::Call && n.name != intrinsic::likely;
                   });
        });
    }

    /// Loads of the element that is stored -> loads of its sum.
    class Reader : public GraphMutator {
      public:
        explicit Reader(const Finder &finder) : finder_(finder) {}
        bool only_own_elements = true;

      protected:
        Expr rewrite(const Expr &e) override {
            if (is_intrinsic(*e.get(), intrinsic::undef))
                only_own_elements = false;
            if (e->op != Op::Call || e->call_kind != CallKind::Func ||
                e->name != finder_.func_.name)
                return GraphMutator::rewrite(e);
            only_own_elements &=
                e->args.size() == finder_.coordinates_.size() &&
                std::equal(e->args.begin(), e->args.end(), finder_.coordinates_.begin(),
                           [](const Expr &a, const Expr &b) { return equal(a, b); });
            return finder_.sum(static_cast<size_t>(e->index));
        }

      private:
        const Finder &finder_;
    };

    std::string array(size_t value) const {
        return region::stage_name(func_, stage_.stage) + ".sums" +
               (func_.types.size() > 1 ? "." + std::to_string(value) : "");
    }

    Expr sum(size_t value) const { return make_load(func_.types[value], array(value), index_); }

    /// Stores the values of the Provide below `s` to the sums. All are computed before the first is stored.
    Stmt with_stores_to_sums(const Stmt &s, const Expr &where = Expr()) const {
        if (s->op == StmtOp::If && in_thread_ && !where.defined())
            return with_stores_to_sums(s->then_case(), s->condition());
        if (s->op == StmtOp::If)
            return make_if(s->condition(), with_stores_to_sums(s->then_case(), where));
        std::vector<Stmt> stores;
        std::vector<Expr> values;
        std::vector<std::string> names;
        for (size_t i = 0; i < func_.types.size(); i++) {
            names.push_back(array(i) + ".value");
            values.push_back(only_where(where, s->exprs[1 + i], i));
            const Expr value =
                func_.types.size() > 1 ? make_variable(func_.types[i], names[i]) : values[i];
            stores.push_back(make_store(array(i), index_, value));
        }
        Stmt body = make_block(std::move(stores));
        for (size_t i = func_.types.size(); i-- > 0 && func_.types.size() > 1;)
            body = make_let(names[i], values[i], std::move(body));
        return body;
    }

    /// Elsewhere the sum stays as it is. (A branch in a kernel would let the loads of several iterations wait for each other.)
    Expr only_where(const Expr &condition, const Expr &e, size_t value) const {
        return condition.defined() ? make_call(e.type(), intrinsic::if_then_else,
                                               {condition, e, sum(value)}, CallKind::Intrinsic)
                                   : e;
    }

    /// Whether this stage visits every element once, and only its own loops are there for it and the pure
    /// definition.
    bool starts() const {
        const std::vector<StageNest> &stages = tree_.place(stage_.func).stages;
        auto is_alone = [&](const StageNest &nest) {
            return nest.fuse_level.inlined() && tree_.children(nest).empty();
        };
        const auto first = stage_.loops.begin();
        return stage_.stage == 1 && graph::starts_from_formula(func_) && is_alone(stages[0]) &&
               is_alone(stages[1]) &&
               std::none_of(first, first + static_cast<long>(result_.outermost),
                            [](const StageLoop &loop) {
                                return loop.dim.is_reduction || is_gpu(loop.dim.kind);
                            });
    }

    /// Whether a block of the guarded split may also begin earlier, at points that another block computes.
    bool may_shift(size_t split) const {
        const schedules::Transform &t = stage_.transforms[split];
        if (nest_.tails[split] != Tail::Guard || !result_.starts ||
            stage_.known_in.at(t.outer) >= result_.outermost || !is_in_block(split) ||
            is_one_block(t))
            return false;
        for (size_t p = stage_.known_in.at(t.outer); p < stage_.loops.size(); p++)
            if (const region::Level &level = stage_.loops[p].name;
                !tree_.computed_at(level).empty() || !tree_.allocated_at(level).empty())
                return false;
        // An output in the memory of an input: the second time it would be another value.
        return !func_.is_output || std::none_of(func_.stages[0].values.begin(),
                                                func_.stages[0].values.end(), reads_elements);
    }

    /// Whether there is no other block to shift into: of what is computed for each block of its reader.
    bool is_one_block(const schedules::Transform &t) const {
        int64_t extent = 0, factor = 0;
        for (size_t d = 0; d < func_.args.size() && d < allocation_.size(); d++)
            if (func_.args[d] == t.old_name && as_const_int(allocation_[d].extent, &extent) &&
                as_const_int(t.factor, &factor))
                return extent <= factor;
        return false;
    }

    /// Whether all loops that the inner loop of the split became are in the block.
    bool is_in_block(size_t split) const {
        std::set<std::string> made{stage_.transforms[split].inner};
        for (size_t i = split + 1; i < stage_.transforms.size(); i++) {
            const schedules::Transform &t = stage_.transforms[i];
            if (t.kind == schedules::Transform::Kind::Fuse) {
                if (made.count(t.inner) || made.count(t.outer))
                    return false;
            } else if (made.count(t.old_name)) {
                made.insert({t.outer, t.inner});
            }
        }
        return std::none_of(stage_.loops.begin(),
                            stage_.loops.begin() + static_cast<long>(result_.block),
                            [&](const StageLoop &loop) { return made.count(loop.dim.name) > 0; });
    }

    void make_copies() {
        std::vector<Stmt> loads;
        std::vector<Expr> sums;
        result_.starts = starts();
        for (size_t i = 0; i < stage_.transforms.size(); i++)
            result_.kept_inside.push_back(may_shift(i));
        for (size_t i = 0; i < func_.types.size(); i++) {
            result_.arrays.push_back(array(i));
            sums.push_back(sum(i));
            const Expr start =
                result_.starts ? pure_value(plan_, tree_.place(stage_.func).stages[0], stage_, i)
                               : make_call(func_.types[i], func_.name, coordinates_, CallKind::Func,
                                           static_cast<int>(i));
            loads.push_back(make_store(array(i), index_, start));
        }
        result_.load = make_block(std::move(loads));
        result_.store = make_provide(func_.name, coordinates_, std::move(sums));
    }

    const region::RegionPlan &plan_;
    const region::LoopTree &tree_;
    const std::map<region::Level, region::Range> &loops_;
    const Nest &nest_;
    const StageNest &stage_;
    const graph::FuncNode &func_;
    const std::vector<region::Range> &allocation_;
    bool in_thread_ = false;  ///< of a GPU
    RegisterSums result_;
    Expr index_;  // of the element in the arrays, innermost loop fastest
    std::vector<Expr> coordinates_;
};

}  // namespace

std::optional<RegisterSums> register_sums(const region::RegionPlan &plan, const Nest &nest,
                                          const Stmt &provide) {
    return Finder(plan, nest).run(provide);
}

}  // namespace Pipe::lower
