#include "language/nest.h"

#include "language/collect.h"
#include "schedule/print.h"

namespace Pipe::language {

using schedules::Transform;

namespace {

bool shifts(TailStrategy tail) {
    return tail == TailStrategy::ShiftInwards || tail == TailStrategy::ShiftInwardsAndBlend;
}

/// Calls of the Func itself carry no referent.
bool reads_itself(const graph::Stage &stage) {
    bool found = false;
    graph::Walk walk;
    auto visit = [&](const ir::ExprNode &node) {
        found |= node.op == ir::Op::Call && node.call_kind == ir::CallKind::Func && !node.referent;
    };
    graph::for_each_expr(stage, [&](const Expr &e) { walk(e, visit); });
    return found;
}

}  // namespace

void Nest::check_tail(const schedules::Dim &loop, TailStrategy tail) const {
    bool always_legal = tail == TailStrategy::Auto || tail == TailStrategy::GuardWithIf ||
                        tail == TailStrategy::Predicate;
    if (loop.is_reduction && !always_legal) {
        std::string name = schedules::to_string(tail);
        fail(fmt::format(
            "{} {} the range of the RVar '{}', which changes the result of the update. Use "
            "GuardWithIf or Predicate.",
            name, shifts(tail) ? "runs twice over part of" : "goes beyond", loop.name));
    }
    const graph::Stage &stage = func_.stages[static_cast<size_t>(stage_.index())];
    if (stage_.index() > 0 && tail == TailStrategy::ShiftInwards && reads_itself(stage))
        fail(fmt::format(
            "ShiftInwards computes iterations of '{}' twice, which changes the result of an "
            "update that reads its own Func. Use ShiftInwardsAndBlend, "
            "GuardWithIf or RoundUp.",
            loop.name));
}

void Nest::check_splittable(const std::string &loop) const {
    for (const Transform &t : schedule_.transforms) {
        bool masks =
            t.tail == TailStrategy::PredicateLoads || t.tail == TailStrategy::PredicateStores;
        if (t.kind == Transform::Kind::Split && masks && (t.outer == loop || t.inner == loop))
            fail(fmt::format("'{}' results from a split with TailStrategy::{}, which must be the "
                             "innermost one. Split first, or use Predicate.",
                             loop, schedules::to_string(t.tail)));
    }
}

}  // namespace Pipe::language
