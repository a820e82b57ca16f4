#include "poly/races.h"

// Spaces:
//   Pair[p0, .., pR-1, q0, .., qR-1, s0, ...]   two iterations of one update: the RVars of both, and
//                                               what is the same for both: pure variables (whose
//                                               different values never meet), Params, sizes
//   { Pair[p, q, s] }                           pairs that conflict

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include <isl/cpp.h>
#include <isl/ctx.h>
#include <isl/options.h>

#include "graph/collect.h"
#include "graph/match.h"
#include "graph/reduction.h"
#include "graph/update_order.h"
#include "ir/print.h"
#include "ir/substitute.h"
#include "poly/affine.h"
#include "schedule/print.h"

namespace Pipe::poly {
namespace {

using graph::FuncNode;
using graph::ReductionVar;
using graph::Stage;
using schedules::Dim;
using schedules::StageSchedule;
using schedules::Transform;

/// The value of a loop in terms of the definition's variables: several that count in order, the
/// outermost first, where loops are fused. Nothing: not known.
using LoopValue = std::optional<std::vector<Expr>>;

class LoopValues {
  public:
    LoopValues(const Stage &stage, const std::vector<Transform> &transforms) {
        for (const ReductionVar &r : stage.rvars)
            values_[r.name] = {ir::sub(ir::make_variable(Int(32), r.name), r.min)};
        for (const Transform &t : transforms) {
            if (t.kind == Transform::Kind::Rename)
                move(t.old_name, t.outer);
            else if (t.kind == Transform::Kind::Fuse)
                fuse(t);
            else
                split(t);
        }
    }

    /// A pure loop has no values.
    LoopValue operator[](const std::string &loop) const {
        auto found = values_.find(loop);
        return found == values_.end() ? LoopValue(std::vector<Expr>()) : found->second;
    }

  private:
    std::map<std::string, LoopValue> values_;

    LoopValue take(const std::string &name) {
        LoopValue value = (*this)[name];
        values_.erase(name);
        return value;
    }
    void move(const std::string &from, const std::string &to) {
        if (LoopValue value = take(from); !value || !value->empty())
            values_[to] = value;
    }
    void fuse(const Transform &t) {
        LoopValue inner = take(t.inner), outer = take(t.outer);
        if (!inner || !outer) {
            values_[t.old_name] = std::nullopt;
            return;
        }
        outer->insert(outer->end(), inner->begin(), inner->end());
        if (!outer->empty())
            values_[t.old_name] = outer;
    }
    void split(const Transform &t) {
        LoopValue old = take(t.old_name);
        if (old && old->empty())
            return;
        bool simple = old && old->size() == 1;
        values_[t.outer] = simple ? LoopValue({ir::div(old->front(), t.factor)}) : std::nullopt;
        values_[t.inner] = simple ? LoopValue({ir::mod(old->front(), t.factor)}) : std::nullopt;
    }
};

/// Two iterations of one update.
class Pairs {
  public:
    Pairs(const FuncNode &func, const Stage &stage, const StageSchedule &s, unsigned long quota)
        : stage_(stage), dims_(s.dims), values_(stage, s.transforms) {
        raw_ = isl_ctx_alloc();
        isl_options_set_on_error(raw_, ISL_ON_ERROR_CONTINUE);
        isl_ctx_set_max_operations(raw_, quota);
        collect(func);
    }
    ~Pairs() {
        space_ = {};
        domain_ = {};
        isl_ctx_free(raw_);
    }
    Pairs(const Pairs &) = delete;
    Pairs &operator=(const Pairs &) = delete;

    /// The access that meets a write of another iteration of this loop, the loops outside being at
    /// the same place; undefined = none.
    Expr conflict(size_t dim) {
        return ask([&] {
            isl::set pairs = domain_;
            for (size_t d = dim + 1; d < dims_.size(); d++)
                pairs = pairs.intersect(equal_loop(dims_[d].name));
            return pairs.intersect(differs(dims_[dim].name));
        });
    }

    /// The access that would come before the write that it must follow, or the other way round.
    Expr reordered() {
        return ask([&] { return domain_.intersect(original_order()).intersect(now_reversed()); });
    }

    const Expr &written() const { return accesses_.front(); }

  private:
    const Stage &stage_;
    const std::vector<Dim> &dims_;
    LoopValues values_;
    std::vector<Expr> accesses_;  // calls of the Func; first the write
    std::vector<std::string> shared_;
    Environment nothing_;
    isl_ctx *raw_;
    isl::space space_;  // { Pair[p, q, s] }
    isl::set domain_;   // { Pair[p, q, s] }

    void collect(const FuncNode &func) {
        accesses_.push_back(ir::make_call(func.types[0], func.name, stage_.args, ir::CallKind::Func));
        graph::IsSelf is_self = graph::calls_of(func.id);
        graph::Walk walk;
        std::set<std::string> names;
        auto visit = [&](const ir::ExprNode &node) {
            if (is_self(node))
                accesses_.push_back(Expr(&node));
            if (node.op == ir::Op::Variable)
                names.insert(node.name);
        };
        for (const Expr &e : stage_.args)
            walk(e, visit);
        for (const Expr &e : stage_.values)
            walk(e, visit);
        walk(stage_.predicate, visit);
        for (const ReductionVar &r : stage_.rvars)
            walk(r.min, visit), walk(r.extent, visit);
        for (const ReductionVar &r : stage_.rvars)
            names.erase(r.name);
        shared_.assign(names.begin(), names.end());
    }

    /// Runs the test; what goes wrong on the way counts as a conflict with the write itself.
    template <typename F> Expr ask(F &&make_pairs) {
        isl_ctx_reset_operations(raw_);
        isl_ctx_reset_error(raw_);
        try {
            auto n = static_cast<unsigned>(2 * stage_.rvars.size() + shared_.size());
            space_ = isl::space::unit(isl::ctx(raw_)).add_named_tuple("Pair", n);
            domain_ = space_.universe_set();
            add_domain();
            isl::set pairs = make_pairs();
            if (pairs.is_empty())
                return Expr();
            for (const Expr &access : accesses_)
                if (!pairs.intersect(same_element(access)).is_empty())
                    return access;
            return Expr();
        } catch (const isl::exception &) {
            return written();
        }
    }

    isl::pw_aff variable(size_t k) const {
        return space_.identity_multi_aff_on_domain().at(static_cast<int>(k));
    }

    Affine affine(bool second) {
        return Affine(space_, nothing_, [=, this](const std::string &name) -> std::optional<isl::pw_aff> {
            size_t count = stage_.rvars.size();
            for (size_t r = 0; r < count; r++)
                if (stage_.rvars[r].name == name)
                    return variable(second ? count + r : r);
            for (size_t s = 0; s < shared_.size(); s++)
                if (shared_[s] == name)
                    return variable(2 * count + s);
            return std::nullopt;
        });
    }

    /// Nothing where it is not affine.
    std::optional<isl::pw_aff> value(const Expr &e, bool second) {
        try {
            return affine(second).value(e);
        } catch (const NotAffine &) {
            return std::nullopt;
        }
    }

    void add_domain() {
        for (bool second : {false, true}) {
            for (size_t r = 0; r < stage_.rvars.size(); r++) {
                const ReductionVar &rvar = stage_.rvars[r];
                isl::pw_aff at = variable(second ? stage_.rvars.size() + r : r);
                auto min = value(rvar.min, second);
                auto max = value(ir::add(rvar.min, ir::sub(rvar.extent, ir::make_int(Int(32), 1))), second);
                if (min)
                    domain_ = domain_.intersect(at.ge_set(*min));
                if (max)
                    domain_ = domain_.intersect(at.le_set(*max));
            }
            if (stage_.predicate.defined())
                add_condition(stage_.predicate, second);
        }
    }

    void add_condition(const Expr &e, bool second) {
        if (e->op == ir::Op::And) {
            add_condition(e->args[0], second);
            add_condition(e->args[1], second);
            return;
        }
        try {
            domain_ = domain_.intersect(affine(second).where(e));
        } catch (const NotAffine &) {
        }
    }

    /// Where the first iteration writes what the second one accesses.
    isl::set same_element(const Expr &access) {
        isl::set result = space_.universe_set();
        for (size_t d = 0; d < stage_.args.size(); d++) {
            auto first = value(stage_.args[d], false), second = value(access->args[d], true);
            if (first && second)
                result = result.intersect(first->eq_set(*second));
        }
        return result;
    }

    isl::set equal_loop(const std::string &loop) {
        isl::set result = space_.universe_set();
        if (LoopValue parts = values_[loop])
            for (const Expr &part : *parts) {
                auto first = value(part, false), second = value(part, true);
                if (first && second)
                    result = result.intersect(first->eq_set(*second));
            }
        return result;
    }

    isl::set any_different() {
        isl::set result = space_.universe_set().subtract(space_.universe_set());
        for (size_t r = 0; r < stage_.rvars.size(); r++)
            result = result.unite(variable(r).ne_set(variable(stage_.rvars.size() + r)));
        return result;
    }

    isl::set differs(const std::string &loop) {
        isl::set result = space_.universe_set().subtract(space_.universe_set());
        LoopValue parts = values_[loop];
        if (!parts)
            return any_different();
        for (const Expr &part : *parts) {
            auto first = value(part, false), second = value(part, true);
            if (!first || !second)
                return any_different();
            result = result.unite(first->ne_set(*second));
        }
        return result;
    }

    /// The first iteration comes before the second one as the definition says.
    isl::set original_order() {
        isl::set result = space_.universe_set().subtract(space_.universe_set());
        isl::set equal = space_.universe_set();
        for (size_t r = stage_.rvars.size(); r-- > 0;) {
            isl::pw_aff first = variable(r), second = variable(stage_.rvars.size() + r);
            result = result.unite(equal.intersect(first.lt_set(second)));
            equal = equal.intersect(first.eq_set(second));
        }
        return result;
    }

    /// The second one comes first in the loops as they are now.
    isl::set now_reversed() {
        isl::set result = space_.universe_set().subtract(space_.universe_set());
        isl::set equal = space_.universe_set();
        for (size_t d = dims_.size(); d-- > 0;) {
            LoopValue parts = values_[dims_[d].name];
            if (!parts)
                return result.unite(equal);
            for (const Expr &part : *parts) {
                auto first = value(part, false), second = value(part, true);
                if (!first || !second)
                    return result.unite(equal);
                result = result.unite(equal.intersect(second->lt_set(*first)));
                equal = equal.intersect(first->eq_set(*second));
            }
        }
        return result;
    }
};

class Checker {
  public:
    Checker(const graph::Graph &graph, const Schedule &schedule, const RaceOptions &options)
        : graph_(graph), schedule_(schedule), options_(options) {}

    std::vector<SharedLoop> check() {
        for (const schedules::FuncSchedule &f : schedule_.funcs)
            for (const StageSchedule &s : f.stages)
                if (s.fuse_level.at())
                    hosts_.insert({s.fuse_level.func, s.fuse_level.stage});
        for (const FuncNode &f : graph_.funcs) {
            if (!f.is_output && f.consumers.empty())
                continue;
            for (size_t i = 1; i < f.stages.size(); i++) {
                const StageSchedule &s = schedule_[f.id].stages[i];
                bool joined = s.fuse_level.at() || hosts_.count({f.id, static_cast<int>(i)});
                stage(f, i, s, joined || !s.specializations.empty());
                special_stages(f, i, s);
            }
        }
        return std::move(shared_);
    }

  private:
    void special_stages(const FuncNode &f, size_t i, const StageSchedule &s) {
        for (const schedules::Specialization &special : s.specializations) {
            if (!special.condition.defined())
                continue;  // specialize_fail: nothing runs
            stage(f, i, special.schedule, true);
            special_stages(f, i, special.schedule);
        }
    }

    const graph::Graph &graph_;
    const Schedule &schedule_;
    const RaceOptions &options_;
    std::vector<SharedLoop> shared_;
    std::set<std::pair<FuncId, int>> hosts_;  // stages that others share loops of (compute_with)

    void stage(const FuncNode &f, size_t index, const StageSchedule &s, bool special) {
        const Stage &stage = f.stages[index];
        if (s.allow_race_conditions || stage.rvars.empty())
            return;
        for (size_t d = s.dims.size(); d-- > 0;) {
            const Dim &dim = s.dims[d];
            bool together = dim.kind == LoopKind::Parallel || dim.kind == LoopKind::Vectorized;
            if (!dim.is_reduction || !together)
                continue;
            Pairs pairs(f, stage, s, options_.max_operations);
            Expr meets = pairs.conflict(d);
            if (meets.defined())
                conflict(f, index, s, dim, pairs.written(), meets, special);
        }
        order(f, index, s);
    }

    static std::string name_of(const FuncNode &f, size_t stage) {
        return fmt::format("{}.update({})", f.name, stage - 1);
    }

    [[noreturn]] static void reject(const FuncNode &f, size_t stage, const std::string &directive,
                                    const std::string &why) {
        SourceLocation where = f.stages[stage].where;
        throw CompileError(fmt::format("{}.{}{}: {}", name_of(f, stage), directive,
                                       where.known() ? fmt::format(" ({})", to_string(where)) : "",
                                       why));
    }

    static std::string accesses(const Expr &written, const Expr &meets) {
        return written.same_as(meets)
                   ? fmt::format("two of them write '{}'", graph::shortened(written))
                   : fmt::format("one writes '{}', another reads '{}'", graph::shortened(written),
                                 graph::shortened(meets));
    }

    void conflict(const FuncNode &f, size_t index, const StageSchedule &s, const Dim &dim,
                  const Expr &written, const Expr &meets, bool special) {
        std::string why;
        auto reduction = graph::as_reduction(f.stages[index], graph::calls_of(f.id), &why);
        bool regroup = reduction && reduction->commutative && (reduction->exact || options_.fast_math);
        std::string directive = fmt::format("{}({})", schedules::to_string(dim.kind), dim.name);
        std::string text = fmt::format(
            "iterations of the loop '{}' may touch the same elements: {}. ", dim.name,
            accesses(written, meets));
        if (s.atomic) {
            if (s.override_associativity_test)
                return;
            if (!reduction)
                reject(f, index, directive,
                       text + fmt::format("atomic() does not help, because no associative operator was "
                                          "found: {}. atomic(true) says that any order is right.",
                                          why));
            if (f.types.size() > 1)
                reject(f, index, directive,
                       text + "atomic() can update one value in a step, but this Func has a Tuple. "
                              "Use rfactor().");
            return;
        }
        if (regroup && !special) {
            shared_.push_back({f.id, static_cast<int>(index), dim.name});
            return;
        }
        if (reduction && !reduction->exact)
            text += "The operator is associative, but on floats another grouping rounds differently: a "
                    "target with Target::FastMath allows that. ";
        reject(f, index, directive,
               text + fmt::format("Take the update apart with rfactor(), make it atomic(), {} a loop over a "
                                  "Var instead, or, where any order is right, say "
                                  "allow_race_conditions().",
                                  dim.kind == LoopKind::Parallel ? "parallelize" : "vectorize"));
    }

    /// Another order of the RVar loops must not change what an iteration reads.
    void order(const FuncNode &f, size_t index, const StageSchedule &s) {
        const Stage &stage = f.stages[index];
        std::vector<std::string> now, natural;
        for (const Dim &d : s.dims)
            if (d.is_reduction)
                now.push_back(d.name);
        for (const ReductionVar &r : stage.rvars)
            natural.push_back(r.name);
        if ((s.transforms.empty() && now == natural) || graph::is_commutative(f, stage))
            return;
        Pairs pairs(f, stage, s, options_.max_operations);
        Expr meets = pairs.reordered();
        if (!meets.defined())
            return;
        std::string list = fmt::format("{}", fmt::join(now, ", "));
        reject(f, index, fmt::format("reorder({})", list),
               fmt::format("the definition gives another result when its RVars run in this order: of two "
                           "iterations, {}, and which comes first would change. Keep the order of the "
                           "definition ({}, innermost first), or, where any order is right, say "
                           "allow_race_conditions().",
                           accesses(pairs.written(), meets), fmt::join(natural, ", ")));
    }
};

}  // namespace

std::vector<SharedLoop> check_races(const graph::Graph &graph, const Schedule &schedule,
                                    const RaceOptions &options) {
    return Checker(graph, schedule, options).check();
}

}  // namespace Pipe::poly
