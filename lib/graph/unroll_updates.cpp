#include "graph/unroll_updates.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "graph/extern_stage.h"
#include "graph/reduction.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"

namespace Pipe::graph {
namespace {

/// The values of the RVars in one iteration.
using Iteration = std::map<std::string, Expr>;

bool is_here(const FuncNode &f, const std::vector<Expr> &args) {
    for (size_t d = 0; d < f.args.size(); d++)
        if (args[d]->op != ir::Op::Variable || args[d]->name != f.args[d])
            return false;
    return true;
}

/// An update in one iteration: values of RVars instead of their names, and the values before instead of the calls of
/// the Func itself.
class InIteration : public ir::GraphMutator {
  public:
    InIteration(const FuncNode &f, const Iteration &iteration, const std::vector<Expr> &before)
        : is_self_(calls_of(f.id)), iteration_(iteration), before_(before) {}

  protected:
    Expr rewrite(const Expr &e) override {
        if (e->op == ir::Op::Variable) {
            auto rvar = iteration_.find(e->name);
            return rvar == iteration_.end() ? e : rvar->second;
        }
        if (is_self_(*e))
            return before_[static_cast<size_t>(e->index)];
        Expr now = ir::GraphMutator::rewrite(e);
        const bool reads = now->op == ir::Op::Call && (now->call_kind == ir::CallKind::Func ||
                                                       now->call_kind == ir::CallKind::Image);
        return reads ? with_simple_coordinates(now) : now;
    }

  private:
    const IsSelf is_self_;
    const Iteration &iteration_;
    const std::vector<Expr> &before_;

    static Expr with_simple_coordinates(const Expr &call) {
        std::vector<Expr> args;
        for (const Expr &arg : call->args)
            args.push_back(ir::simplify(arg));
        return ir::with_args(call, std::move(args));
    }
};

std::optional<int64_t> constant(const Expr &e) {
    int64_t value = 0;
    return ir::as_const_int(ir::simplify(e), &value) ? std::optional(value) : std::nullopt;
}

/// Calls visit(iteration) in the order of the loops. RVars have constant ranges.
template <typename F> void for_each_iteration(const Stage &stage, F &&visit) {
    Iteration now;
    auto loop = [&](auto &self, size_t outer) -> void {
        if (outer == 0)
            return visit(now);
        const ReductionVar &r = stage.rvars[outer - 1];
        const int64_t min = *constant(r.min), extent = *constant(r.extent);
        for (int64_t i = min; i < min + extent; i++) {
            now[r.name] = ir::make_const(Int(32), i);
            self(self, outer - 1);
        }
    };
    loop(loop, stage.rvars.size());
}

/// Whether the predicate holds in an iteration; unknown if that depends on anything else.
std::optional<int64_t> holds(const Stage &stage, const Iteration &iteration) {
    if (!stage.predicate.defined())
        return 1;
    return constant(ir::substitute(iteration, stage.predicate));
}

/// Of one update; 0, with the reason, if it cannot be unrolled. (Where it stores at all pure variables, it reads the Func
/// there only: the language requires an RVar for anything else.)
int64_t iterations_of(const FuncNode &f, const Stage &update, std::string *why) {
    if (!is_here(f, update.args)) {
        *why = "an update stores other elements than that of its variables";
        return 0;
    }
    int64_t iterations = 1;
    for (const ReductionVar &r : update.rvars) {
        const auto min = constant(r.min), extent = constant(r.extent);
        if (!min || !extent) {
            *why = fmt::format("the range of {} is no constant", r.name);
            return 0;
        }
        iterations *= std::clamp<int64_t>(*extent, 0, most_unrolled_iterations + 1);
        if (iterations > most_unrolled_iterations) {
            *why = fmt::format("it has more than {} iterations", most_unrolled_iterations);
            return 0;
        }
    }
    bool known = true;
    for_each_iteration(update,
                       [&](const Iteration &now) { known &= holds(update, now).has_value(); });
    if (!known) {
        *why = "its where() depends on more than RVars";
        return 0;
    }
    return std::max<int64_t>(iterations, 1);
}

std::vector<Expr> unrolled_values(const FuncNode &f) {
    std::vector<Expr> values = f.stages[0].values;
    for (size_t s = 1; s < f.stages.size(); s++) {
        const Stage &update = f.stages[s];
        for_each_iteration(update, [&](const Iteration &now) {
            if (!*holds(update, now))
                return;
            InIteration in_iteration(f, now, values);
            std::vector<Expr> next;
            for (const Expr &value : update.values)
                next.push_back(in_iteration.mutate(value));
            values = std::move(next);
        });
    }
    return values;
}

void reject_if_scheduled(const FuncNode &f, const schedules::FuncSchedule &schedule) {
    for (size_t s = 1; s < schedule.stages.size(); s++)
        if (schedule.stages[s].touched)
            reject_directive(f, s, "unroll_updates",
                             "this update has directives, but unroll_updates() leaves no update. "
                             "Give them to the Func, or remove unroll_updates().");
}

}  // namespace

int64_t unrolled_iterations(const FuncNode &f, std::string *why) {
    if (!f.has_updates() || is_extern(f)) {
        *why = "it has no updates";
        return 0;
    }
    int64_t iterations = 0;
    for (size_t s = 1; s < f.stages.size(); s++) {
        const int64_t of_update = iterations_of(f, f.stages[s], why);
        if (of_update == 0)
            return 0;
        iterations += of_update;
    }
    if (iterations <= most_unrolled_iterations)
        return iterations;
    *why = fmt::format("its updates have more than {} iterations", most_unrolled_iterations);
    return 0;
}

void unroll_updates(Graph &graph, schedules::Schedule &schedule, const std::vector<FuncId> &funcs) {
    for (FuncId id : funcs) {
        FuncNode &f = graph.funcs[static_cast<size_t>(id)];
        std::string why;
        if (unrolled_iterations(f, &why) == 0)
            reject_directive(f, 0, "unroll_updates", why + ".");
        reject_if_scheduled(f, schedule[id]);
        f.stages[0].values = unrolled_values(f);
        f.stages.resize(1);
        schedule[id].stages.resize(1);
        schedule[id].unroll_updates = true;
    }
    if (!funcs.empty())
        connect(graph, [](const FuncNode &) { return true; });
}

}  // namespace Pipe::graph
