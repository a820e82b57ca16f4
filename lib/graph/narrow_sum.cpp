#include "graph/narrow_sum.h"

#include "graph/reduction.h"

namespace Pipe::graph {

std::optional<ir::NarrowTerm> narrow_sum(const FuncNode &func, size_t stage) {
    const Stage &update = func.stages[stage];
    if (stage == 0 || update.values.size() != 1 || update.values[0]->op != ir::Op::Add)
        return std::nullopt;
    const IsSelf is_self = calls_of(func.id);
    const Expr &a = update.values[0]->a(), &b = update.values[0]->b();
    if (is_self(*a) == is_self(*b))
        return std::nullopt;
    return ir::narrow_term(is_self(*a) ? b : a);
}

}  // namespace Pipe::graph
