#include "lower/versions.h"

#include <algorithm>
#include <span>

#include "ir/fold.h"
#include "ir/simplify.h"
#include "lower/assume.h"
#include "schedule/specialize.h"

namespace Pipe::lower {

using namespace ir;

namespace {

using KnownValues = std::vector<std::pair<std::string, Expr>>;

/// Adds the values that the condition says: `v == 3`, `b`, `!b`, and conjunctions of them. (Floats that
/// compare equal may be different.)
void learn(const Expr &condition, bool holds, KnownValues &known) {
    const ExprNode &e = *condition.get();
    if (e.op == Op::Variable)
        known.emplace_back(e.name, make_const(Bool(), holds ? 1 : 0));
    if (e.op == Op::Not)
        learn(e.value(), !holds, known);
    if (e.op == (holds ? Op::And : Op::Or))
        for (const Expr &part : e.args)
            learn(part, holds, known);
    if (e.op != (holds ? Op::EQ : Op::NE))
        return;
    for (size_t side : {size_t(0), size_t(1)})
        if (e.args[side]->op == Op::Variable && is_constant(e.args[1 - side]) &&
            !e.args[side].type().is_float())
            known.emplace_back(e.args[side]->name, e.args[1 - side]);
}

Version version_of(const Version &whole, const Expr &condition, bool holds,
                   const schedules::Schedule &schedule) {
    Version version{assume(whole.graph, condition, holds), schedule, whole.conditions, whole.known};
    version.conditions.push_back({condition, holds});
    learn(condition, holds, version.known);
    return version;
}

void specialize(Version whole, std::vector<Version> &versions) {
    const std::optional<schedules::Branch> branch = schedules::branch(whole.schedule);
    if (branch && branch->condition.defined()) {
        specialize(version_of(whole, branch->condition, true, branch->holds), versions);
        specialize(version_of(whole, branch->condition, false, branch->otherwise), versions);
        return;
    }
    if (branch)
        whole.failure = "specialize_fail of " + located_name(whole.graph[branch->func], 0) + ": " +
                        branch->failure;
    versions.push_back(std::move(whole));
}

/// The conditions before `depth` are common to all.
Stmt join(std::span<const Version> versions, size_t depth) {
    if (versions[0].conditions.size() == depth)
        return versions[0].loops;
    const auto otherwise = std::find_if(versions.begin(), versions.end(), [&](const Version &v) {
        return !v.conditions[depth].holds;
    });
    const auto count = static_cast<size_t>(otherwise - versions.begin());
    return simplify(make_if(versions[0].conditions[depth].value,
                            join(versions.first(count), depth + 1),
                            join(versions.subspan(count), depth + 1)));
}

}  // namespace

std::vector<Version> specialized(Version whole) {
    std::vector<Version> versions;
    specialize(std::move(whole), versions);
    return versions;
}

Stmt joined(const std::vector<Version> &versions) {
    return join(versions, 0);
}

}  // namespace Pipe::lower
