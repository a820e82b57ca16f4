// Stage::rfactor.

#include <algorithm>

#include <fmt/format.h>

#include "graph/factor.h"
#include "graph/loops.h"
#include "language/collect.h"
#include "language/contents.h"
#include "language/match.h"
#include <pipe/func.h>

namespace Pipe {

using language::FuncContents;

namespace {

/// Before freezing, a Func's calls of itself have no referent.
bool is_self(const ir::ExprNode &node) {
    return node.op == ir::Op::Call && node.call_kind == ir::CallKind::Func && !node.referent;
}

}  // namespace

Func Stage::rfactor(const RVar &preserved, const Var &v, SourceLocation where) {
    return rfactor({{preserved, v}}, where);
}

Func Stage::rfactor(const std::vector<std::pair<RVar, Var>> &preserved, SourceLocation where) {
    std::vector<std::string> names;
    for (const auto &[r, v] : preserved)
        names.push_back(r.name());
    auto reject = [&](const std::string &why) {
        throw CompileError(fmt::format("{}.rfactor({}){}: {}", language::func_field(name()),
                                       language::join(names), language::at(where), why));
    };
    schedules::StageSchedule &loops = schedule();
    FuncContents &f = *func_;
    if (stage_ == 0)
        reject("the pure definition has no RVars. Call rfactor on an update: "
               "f.update().rfactor(...).");
    if (!loops.specializations.empty())
        reject("the definition already has specializations. Call rfactor() first.");
    if (!loops.prefetches.empty())
        reject(
            "the definition already has a prefetch(). Call rfactor() first, and give the prefetch "
            "to the Func that it returns.");
    auto taken = f.args;
    graph::Factoring from{f.args, f.stages[static_cast<size_t>(stage_)], loops, {}, is_self, {}};
    for (const auto &[r, v] : preserved) {
        if (std::count(taken.begin(), taken.end(), v.name()) > 0)
            reject(fmt::format("the Var '{}' is already a dimension. Use another name.", v.name()));
        taken.push_back(v.name());
        from.preserved.emplace_back(r.name(), v.name());
    }
    auto part = std::make_shared<FuncContents>();
    part->identity = language::Identity::unnamed(f.name() + "_intm");
    from.call = [&](const ir::ExprNode &self, std::vector<Expr> args) {
        // Its calls of itself have no referent: set below.
        return ir::make_call(self.type, part->name(), std::move(args), ir::CallKind::Func,
                             self.index, part);
    };
    std::string why;
    auto reduction = graph::as_reduction(from.stage, is_self, &why);
    if (!reduction)
        reject(fmt::format("the update{} cannot be factored, because no associative operator "
                           "with an identity was found: {}.",
                           language::at(from.stage.where), why));
    std::optional<graph::Factored> result = graph::factor(from, *reduction, &why);
    if (!result)
        reject(why + ".");

    part->where = where;
    part->args = result->args;
    part->types = f.types;
    part->origin = {f.weak_from_this(),
                    "rfactor",
                    {},
                    std::make_shared<language::RFactor>(
                        language::RFactor{stage_, from.stage, loops, from.preserved})};
    for (Expr &value : result->update.values)
        value = language::without_referent(value, *part);
    part->stages = {result->initial, result->update};
    for (const graph::Stage &stage : part->stages)
        part->schedule.stages.emplace_back().dims = graph::initial_loops(part->args, stage);
    language::find_callees(*part);
    f.stages[static_cast<size_t>(stage_)] = result->merge;
    loops = result->merge_loops;
    loops.touched = true;
    language::find_callees(f);
    f.identity->touch();
    return Func(part);
}

}  // namespace Pipe
