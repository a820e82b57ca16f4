#include "graph/overwritten.h"

#include <algorithm>

#include "graph/extern_stage.h"
#include "graph/reduction.h"
#include "ir/equal.h"
#include "ir/int32.h"
#include "ir/intrinsics.h"
#include "ir/linear.h"
#include "ir/substitute.h"
#include "ir/visit.h"

namespace Pipe::graph {

namespace {

/// The one dimension of an update that is not a variable of its own; nothing if there is not exactly one.
std::optional<size_t> dimension_of_rvar(const FuncNode &func, const Stage &update) {
    std::optional<size_t> found;
    for (size_t d = 0; d < func.args.size(); d++) {
        if (update.args[d]->op == ir::Op::Variable && update.args[d]->name == func.args[d])
            continue;
        if (found)
            return std::nullopt;
        found = d;
    }
    return found;
}

bool reads_funcs(const Stage &stage) {
    return std::any_of(stage.values.begin(), stage.values.end(), [](const Expr &value) {
        return ir::contains(value, [](const ir::ExprNode &e) {
            return e.op == ir::Op::Call && e.call_kind != ir::CallKind::Image &&
                   e.call_kind != ir::CallKind::Intrinsic &&
                   e.call_kind != ir::CallKind::PureExtern;
        });
    });
}

/// Whether all that the update reads of its own Func along `dim` was stored by an earlier iteration, or lies outside
/// of what it stores. `step`: of the coordinate that it stores at, from one iteration to the next.
bool reads_behind(const FuncNode &func, const Stage &update, size_t dim, int64_t step) {
    const IsSelf is_self = calls_of(func.id);
    auto is_behind = [&](const ir::ExprNode &call) {
        for (size_t d = 0; d < call.args.size(); d++)
            if (d != dim && !ir::equal(call.args[d], update.args[d]))
                return false;
        const auto distance = ir::constant_difference(update.args[dim], call.args[dim]);
        return distance && *distance * step > 0;
    };
    return std::none_of(update.values.begin(), update.values.end(), [&](const Expr &value) {
        return ir::contains(value, [&](const ir::ExprNode &e) {
            return ir::is_intrinsic(e, ir::intrinsic::undef) || (is_self(e) && !is_behind(e));
        });
    });
}

}  // namespace

std::optional<Overwritten> overwritten(const FuncNode &func) {
    if (func.stages.size() < 2 || is_extern(func) || reads_funcs(func.stages[0]))
        return std::nullopt;
    const Stage &update = func.stages[1];
    if (update.rvars.size() != 1 || update.predicate.defined())
        return std::nullopt;
    const auto dim = dimension_of_rvar(func, update);
    if (!dim)
        return std::nullopt;
    const ReductionVar &r = update.rvars[0];
    const Expr &at = update.args[*dim];
    const Expr next = ir::add(ir::make_variable(Int(32), r.name), ir::int32(1));
    const auto step = ir::constant_difference(ir::substitute(r.name, next, at), at);
    if (!step || std::abs(*step) != 1 || !reads_behind(func, update, *dim, *step))
        return std::nullopt;
    const Expr first = ir::substitute(r.name, r.min, at),
               last = ir::substitute(r.name, ir::sub(ir::add(r.min, r.extent), ir::int32(1)), at);
    return *step > 0 ? Overwritten{*dim, first, last} : Overwritten{*dim, last, first};
}

}  // namespace Pipe::graph
