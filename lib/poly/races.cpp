#include "poly/races.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "graph/factor.h"
#include "graph/reduction.h"
#include "graph/scatter.h"
#include "graph/walk.h"
#include "ir/print.h"
#include "poly/pairs.h"
#include "schedule/print.h"
#include "support/text.h"

namespace Pipe::poly {
namespace {

using graph::FuncNode;
using graph::ReductionVar;
using graph::Stage;
using schedules::Dim;
using schedules::StageSchedule;

class Checker {
  public:
    Checker(const graph::Graph &graph, const schedules::Schedule &schedule,
            const RaceOptions &options)
        : graph_(graph), schedule_(schedule), options_(options) {}

    std::vector<SharedLoop> check() {
        for (const schedules::FuncSchedule &f : schedule_.funcs)
            for (const StageSchedule &s : f.stages)
                if (s.fuse_level.at())
                    parents_.insert({s.fuse_level.func, s.fuse_level.stage});
        for (const FuncNode &f : graph_.funcs) {
            if (!f.is_output && f.consumers.empty())
                continue;
            for (size_t i = 1; i < f.stages.size(); i++) {
                const StageSchedule &s = schedule_[f.id].stages[i];
                bool joined = s.fuse_level.at() || parents_.count({f.id, static_cast<int>(i)});
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
                continue;  // specialize_fail: never runs
            stage(f, i, special.schedule, true);
            special_stages(f, i, special.schedule);
        }
    }

    const graph::Graph &graph_;
    const schedules::Schedule &schedule_;
    const RaceOptions &options_;
    std::vector<SharedLoop> shared_;
    std::set<std::pair<FuncId, int>> parents_;  // stages whose loops others share (compute_with)

    void stage(const FuncNode &f, size_t index, const StageSchedule &s, bool special) {
        const Stage &stage = f.stages[index];
        if (s.allow_race_conditions || stage.rvars.empty() || writes_one_value(f, stage))
            return;
        for (size_t d = s.dims.size(); d-- > 0;) {
            const Dim &dim = s.dims[d];
            if (!dim.is_reduction || !is_unordered(dim.kind))
                continue;
            Pairs pairs(f, stage, s, options_.max_operations);
            Expr meets = pairs.conflict(d);
            if (meets.defined())
                conflict(f, index, s, dim, pairs.written(), meets, special);
        }
        order(f, index, s);
    }

    /// Two iterations that write the same element write the same value: it depends only on pure
    /// Vars that are coordinates of the element.
    static bool writes_one_value(const FuncNode &f, const Stage &stage) {
        std::set<std::string> from_rvars;
        for (const ReductionVar &r : stage.rvars)
            from_rvars.insert(r.name);
        graph::IsSelf is_self = graph::calls_of(f.id);
        bool good = graph::count_stores(stage) == 1;
        graph::for_each_expr(stage, [&, walk = graph::Walk()](const Expr &e) mutable {
            walk(e, [&](const ir::ExprNode &n) {
                good &=
                    !is_self(n) && !(n.op == ir::Op::Call && n.call_kind == ir::CallKind::Extern);
            });
        });
        for (const Expr &value : stage.values)
            graph::Walk()(value, [&](const ir::ExprNode &n) {
                good &= n.op != ir::Op::Variable || !from_rvars.count(n.name);
            });
        return good;
    }

    static std::string accesses(const Expr &written, const Expr &meets) {
        return written.same_as(meets)
                   ? fmt::format("two of them write '{}'", ir::shortened(written))
                   : fmt::format("one writes '{}', another reads '{}'", ir::shortened(written),
                                 ir::shortened(meets));
    }

    void conflict(const FuncNode &f, size_t index, const StageSchedule &s, const Dim &dim,
                  const Expr &written, const Expr &meets, bool special) {
        std::string why;
        auto reduction = graph::as_reduction(f, index, &why);
        bool regroup =
            reduction && reduction->any_parts && (reduction->exact || options_.fast_math);
        std::string directive = fmt::format("{}({})", schedules::to_string(dim.kind), dim.name);
        std::string text =
            fmt::format("iterations of the loop '{}' may access the same elements: {}. ", dim.name,
                        accesses(written, meets));
        if (s.atomic) {
            check_one_step(f, index, directive, text);
            if (s.override_associativity_test)
                return;
            if (!reduction)
                graph::reject_directive(
                    f, index, directive,
                    text +
                        fmt::format("atomic() does not help, because no associative operator was "
                                    "found: {}. atomic(true) asserts that any order is correct.",
                                    why));
            return;
        }
        if (regroup && !special &&
            graph::can_factor(f.stages[index], s, dim.name, *reduction, &why)) {
            shared_.push_back({f.id, static_cast<int>(index), dim.name});
            return;
        }
        if (regroup && !special)
            text += fmt::format("It cannot use private accumulators: {}. ", why);
        if (reduction && !reduction->exact)
            text += "The operator is associative, but on floats regrouping changes the rounding: a "
                    "target with Target::FastMath permits that. ";
        graph::reject_directive(
            f, index, directive,
            text +
                fmt::format("Factor the update with rfactor(), make it atomic(), {} a loop over a "
                            "Var instead, or, if any order is correct, add "
                            "allow_race_conditions().",
                            dim.kind == LoopKind::Vectorized ? "vectorize"
                            : is_gpu(dim.kind)               ? "map threads to"
                                                             : "parallelize"));
    }

    /// Reads outside of the atomic update of an element.
    static void check_one_step(const FuncNode &f, size_t index, const std::string &directive,
                               const std::string &conflict) {
        bool asks = false;
        graph::IsSelf is_self = graph::calls_of(f.id);
        if (const Expr &predicate = f.stages[index].predicate; predicate.defined())
            graph::Walk()(predicate, [&](const ir::ExprNode &n) { asks |= is_self(n); });
        if (asks)
            graph::reject_directive(
                f, index, directive,
                conflict +
                    "atomic() does not help, because the condition of the RDom (where) reads "
                    "the Func, which another thread may change in between. Leave the loop "
                    "serial.");
    }

    /// The loops that are among `rvars`.
    static std::vector<std::string> only_reductions(std::vector<std::string> loops,
                                                    const std::vector<std::string> &rvars) {
        std::erase_if(loops, [&](const std::string &name) {
            return std::find(rvars.begin(), rvars.end(), name) == rvars.end();
        });
        return loops;
    }

    /// A different order of the RVar loops must not change the values that an iteration reads.
    void order(const FuncNode &f, size_t index, const StageSchedule &s) {
        const Stage &stage = f.stages[index];
        std::vector<std::string> natural;
        for (const ReductionVar &r : stage.rvars)
            natural.push_back(r.name);
        const LoopOrder loops(s);
        if (loops.transforms.empty() && only_reductions(loops.loops, natural) == natural)
            return;
        std::string why;
        auto reduction = graph::as_reduction(f, index, &why);
        if (reduction && reduction->commutative)
            return;
        Pairs pairs(f, stage, s, options_.max_operations);
        Expr meets = pairs.reordered(loops);
        if (!meets.defined())
            return;
        graph::reject_directive(
            f, index, what_orders(s),
            fmt::format(
                "this order of its RVars changes the result of the definition: of two "
                "iterations, {}, and the order of the two would be reversed. Keep the order of the "
                "definition ({}, innermost first), or, if any order is correct, add "
                "allow_race_conditions().",
                accesses(pairs.written(), meets), support::join(natural)));
    }

    /// The directive that caused this order of the RVar loops: the last fuse if only one loop is
    /// left, else reorder.
    static std::string what_orders(const StageSchedule &s) {
        std::vector<std::string> loops;
        for (const Dim &d : s.dims)
            if (d.is_reduction)
                loops.push_back(d.name);
        if (loops.size() == 1)
            for (auto t = s.transforms.rbegin(); t != s.transforms.rend(); ++t)
                if (t->kind == schedules::Transform::Kind::Fuse && t->old_name == loops[0])
                    return fmt::format("fuse({})",
                                       support::join({t->inner, t->outer, t->old_name}));
        return fmt::format("reorder({})", support::join(loops));
    }
};

}  // namespace

std::vector<SharedLoop> check_races(const graph::Graph &graph, const schedules::Schedule &schedule,
                                    const RaceOptions &options) {
    return Checker(graph, schedule, options).check();
}

}  // namespace Pipe::poly
