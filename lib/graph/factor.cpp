#include "graph/factor.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "graph/rvar_loops.h"
#include "ir/int32.h"
#include "ir/intrinsics.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"

namespace Pipe::graph {
namespace {

using schedules::Dim;
using schedules::StageSchedule;

class Factorer {
  public:
    Factorer(const Factoring &from, const Reduction &reduction, std::string *why)
        : from_(from), reduction_(reduction), why_(why), loops_(from.stage) {}

    bool possible() { return loops_.apply(from_.loops.transforms, why_) && check_preserved(); }

    std::optional<Factored> run() {
        if (!possible())
            return std::nullopt;
        for (const RvarLoops::Node &n : loops_.nodes())
            if (n.is_loop)
                (is_preserved(n.name) ? kept_ : others_).insert(n.name);
        values_ = loops_.find_values(kept_);
        find_written();
        if (reduction_.needs_points && !check_points())
            return std::nullopt;
        result_.args = from_.args;
        for (const auto &[loop, var] : from_.preserved)
            result_.args.push_back(var);
        make_initial();
        make_update();
        make_merge();
        return std::move(result_);
    }

  private:
    const Factoring &from_;
    const Reduction &reduction_;
    std::string *why_;
    RvarLoops loops_;
    std::map<std::string, Expr> values_;   // of the definition's RVars
    std::set<std::string> kept_, others_;  // loops over RVars: preserved, and not
    std::vector<bool> anywhere_;           // arguments for which the merge runs over all elements
    Factored result_;

    bool fail(const std::string &why) {
        *why_ = why;
        return false;
    }

    bool check_preserved() {
        for (const auto &[loop, var] : from_.preserved)
            if (!loops_.loop(loop))
                return fail("there is no RVar loop '" + loop + "'");
        if (reduction_.any_parts)
            return true;
        const auto known_order = loops_.original_order(why_);
        if (!known_order)
            return false;
        const std::vector<std::string> &order = *known_order;
        size_t count = from_.preserved.size();
        for (size_t i = order.size() - count; i < order.size(); i++)
            if (std::none_of(from_.preserved.begin(), from_.preserved.end(),
                             [&](const auto &p) { return p.first == order[i]; }))
                return fail(
                    "which of two equal values is kept depends on the order of the points, so "
                    "only the outermost RVars can be preserved ('" +
                    order[i] + "' is further out)");
        return true;
    }

    /// Whether the merge can decide from the loops alone which parts have points.
    bool check_points() {
        const char *instead =
            "which needs at least one point in every part. Keep the earlier one of equal "
            "values, with < for <= and > for >=";
        if (from_.stage.predicate.defined())
            return fail(fmt::format(
                "the RDom has a condition, and the last one of equal values is kept, {}", instead));
        if (std::find(anywhere_.begin(), anywhere_.end(), true) != anywhere_.end())
            return fail(
                fmt::format("not every part writes each element, and the last one of equal values "
                            "is kept, {}",
                            instead));
        return true;
    }

    std::map<std::string, Expr> with_preserved_as_vars() const {
        std::map<std::string, Expr> vars;
        for (const auto &[loop, var] : from_.preserved)
            vars[loop] = ir::make_variable(Int(32), var);
        std::map<std::string, Expr> result;
        for (const auto &[name, value] : values_)
            result[name] = ir::substitute(vars, value);
        return result;
    }

    bool is_preserved(const std::string &loop) const {
        return std::any_of(from_.preserved.begin(), from_.preserved.end(),
                           [&](const auto &p) { return p.first == loop; });
    }

    /// The written element may depend on RVars that are not preserved, or on data that is available
    /// only for the RDom's points and perhaps only inside the loops that become the new Func's:
    /// then only the new Func can compute it.
    void find_written() {
        bool restricted_by_memory = ir::reads_elements(from_.stage.predicate);
        for (const Expr &arg : from_.stage.args) {
            Expr place = ir::substitute(values_, arg);
            anywhere_.push_back(ir::uses_any_var(place, others_) || ir::reads_elements(place) ||
                                (restricted_by_memory && ir::uses_any_var(place, kept_)));
        }
    }

    static bool is_promised(const Expr &e) {
        return ir::contains(e, [](const ir::ExprNode &n) {
            return ir::is_intrinsic(n, ir::intrinsic::promise_clamped);
        });
    }

    void make_initial() {
        for (const std::string &arg : result_.args)
            result_.initial.args.push_back(ir::make_variable(Int(32), arg));
        result_.initial.values = reduction_.identity;
        result_.initial.where = from_.stage.where;
    }

    /// Replaces calls of the old Func by calls of the new one.
    class ToNew : public ir::GraphMutator {
      public:
        ToNew(const Factoring &from, const std::vector<Expr> &args) : from_(from), args_(args) {}

      protected:
        Expr rewrite(const Expr &e) override {
            return from_.is_self(*e) ? from_.call(*e, args_) : ir::GraphMutator::rewrite(e);
        }

      private:
        const Factoring &from_;
        const std::vector<Expr> &args_;
    };

    void make_update() {
        Stage &update = result_.update;
        update.where = from_.stage.where;
        std::map<std::string, Expr> values = with_preserved_as_vars();
        for (const Expr &arg : from_.stage.args)
            update.args.push_back(ir::substitute(values, arg));
        for (const auto &[loop, var] : from_.preserved)
            update.args.push_back(ir::make_variable(Int(32), var));
        for (const Expr &value : from_.stage.values)
            update.values.push_back(
                ToNew(from_, update.args).mutate(ir::substitute(values, value)));
        for (const Dim &d : from_.loops.dims)
            if (const auto *loop = loops_.loop(d.name); loop && !is_preserved(d.name))
                update.rvars.push_back({d.name, loop->min, loop->extent});
        std::map<std::string, Expr> vars;
        for (const auto &[loop, var] : from_.preserved)
            vars[loop] = ir::make_variable(Int(32), var);
        for (const RvarLoops::Node &n : loops_.inner_first())
            require(update.predicate, n.guard, vars);
        if (from_.stage.predicate.defined())
            require_inside(update.predicate, ir::substitute(values, from_.stage.predicate));

        StageSchedule &loops = result_.update_loops;
        loops.transforms = loops_.pure_transforms();
        loops.dims = from_.loops.dims;
        loops.prefetches = from_.loops.prefetches;
        for (const auto &[loop, var] : from_.preserved) {
            for (Dim &d : loops.dims)
                if (d.name == loop)
                    d.name = var, d.is_reduction = false;
            for (schedules::Prefetch &p : loops.prefetches)
                for (std::string *name : {&p.at, &p.from})
                    if (*name == loop)
                        *name = var;
        }
    }

    static void require(Expr &predicate, const Expr &condition,
                        const std::map<std::string, Expr> &values) {
        if (!condition.defined())
            return;
        Expr c = ir::substitute(values, condition);
        if (is_promised(c))
            require_inside(predicate, c);
        else
            predicate = predicate.defined() ? ir::make_binary(ir::Op::And, predicate, c) : c;
    }

    /// Data read by the user's condition may be accessible, and a promise may hold, only if the guards
    /// hold: both sides of && may be evaluated.
    static void require_inside(Expr &guards, const Expr &condition) {
        guards = guards.defined() ? ir::make_call(Bool(), ir::intrinsic::if_then_else,
                                                  {guards, condition, ir::make_const(Bool(), 0)},
                                                  ir::CallKind::Intrinsic)
                                  : condition;
    }

    void make_merge() {
        Stage &merge = result_.merge;
        merge.where = from_.stage.where;
        for (size_t i = 0; i < from_.args.size(); i++)
            merge.args.push_back(anywhere_[i] ? ir::make_variable(Int(32), from_.args[i])
                                              : ir::substitute(values_, from_.stage.args[i]));
        std::vector<Expr> part = merge.args, old, now;
        for (const auto &[loop, var] : from_.preserved)
            part.push_back(ir::make_variable(Int(32), loop));
        for (size_t i = 0; i < from_.stage.values.size(); i++) {
            const Expr &self = self_call(i);
            old.push_back(ir::with_args(self, merge.args));
            now.push_back(from_.call(*self, part));
        }
        merge.values = reduction_.combine(old, now);
        restrict_merge();

        StageSchedule &loops = result_.merge_loops;
        loops.touched = from_.loops.touched;
        loops.transforms = loops_.pure_transforms();
        for (const Dim &d : from_.loops.dims) {
            const RvarLoops::Node *loop = loops_.loop(d.name);
            if (!loop) {
                loops.dims.push_back(d);
            } else if (is_preserved(d.name)) {
                loops.dims.push_back({d.name, LoopKind::Serial, true});
                merge.rvars.push_back({d.name, loop->min, loop->extent});
            }
        }
        for (size_t i = 0; i < anywhere_.size(); i++)
            if (anywhere_[i])
                loops.dims.push_back({from_.args[i], LoopKind::Serial, false});
    }

    /// Data beyond the RDom's points may not exist, and beyond them an index may violate the
    /// promise made by an earlier rfactor.
    void restrict_merge() {
        Stage &merge = result_.merge;
        if (reduction_.needs_points)
            require_points();
        bool restricted = std::any_of(merge.args.begin(), merge.args.end(), [&](const Expr &arg) {
            return ir::uses_any_var(arg, kept_) || is_promised(arg);
        });
        if (!restricted)
            return;
        for (const RvarLoops::Node &n : loops_.inner_first())
            require_of_merge(n.guard);
        if (from_.stage.predicate.defined())
            require_of_merge(ir::substitute(values_, from_.stage.predicate));
    }

    /// A part has points if the loops that are not preserved have iterations, and the first of them
    /// lies in the RDom.
    void require_points() {
        std::map<std::string, Expr> first;
        for (const RvarLoops::Node &n : loops_.nodes()) {
            if (!others_.count(n.name) || !n.is_loop)
                continue;
            first[n.name] = n.min;
            int64_t extent = 0;
            if (!ir::as_const_int(n.extent, &extent) || extent < 1)
                require(result_.merge.predicate,
                        ir::make_binary(ir::Op::LT, ir::int32(0), n.extent), {});
        }
        for (const RvarLoops::Node &n : loops_.inner_first())
            require(result_.merge.predicate, n.guard, first);
    }

    /// The part of a condition that the merge can evaluate without memory and without the RVars
    /// that are not preserved.
    void require_of_merge(const Expr &condition) {
        if (!condition.defined())
            return;
        bool nested =
            condition->op == ir::Op::Call &&
            condition->name == ir::intrinsic::if_then_else;  // as constructed by require_inside()
        if (condition->op == ir::Op::And || nested) {
            require_of_merge(condition->args[0]);
            require_of_merge(condition->args[1]);
        } else if (!ir::uses_any_var(condition, others_) && !ir::reads_elements(condition)) {
            require(result_.merge.predicate, condition, {});
        }
    }

    /// Every value of a reduction reads the old value that it combines.
    Expr self_call(size_t element) const {
        Expr found;
        for (const Expr &value : from_.stage.values)
            ir::walk(value, [&](const Expr &e) {
                if (from_.is_self(*e) && static_cast<size_t>(e->index) == element)
                    found = e;
                return !found.defined();
            });
        return found;
    }
};

}  // namespace

Expr rvar_extent(const Stage &stage, const StageSchedule &loops, const std::string &loop) {
    RvarLoops rvars(stage);
    std::string why;
    rvars.apply(loops.transforms, &why);
    const RvarLoops::Node *found = rvars.loop(loop);
    return found ? found->extent : Expr();
}

bool can_factor(const Stage &stage, const StageSchedule &loops, const std::string &loop,
                const Reduction &reduction, std::string *why) {
    Factoring from{{}, stage, loops, {{loop, loop}}, {}, {}};
    return Factorer(from, reduction, why).possible();
}

std::optional<Factored> factor(const Factoring &from, const Reduction &reduction,
                               std::string *why) {
    return Factorer(from, reduction, why).run();
}

}  // namespace Pipe::graph
