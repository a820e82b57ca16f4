#include "graph/update_order.h"

#include <algorithm>

#include "graph/collect.h"
#include "ir/equal.h"

namespace Pipe::graph {
namespace {

using ir::Op;

bool is_self_call(const FuncNode &func, const ir::ExprNode &node) {
    return node.op == Op::Call && node.call_kind == ir::CallKind::Func &&
           node.int_value == static_cast<int64_t>(func.id);
}

bool reads_itself(const FuncNode &func, const Expr &e) {
    bool found = false;
    Walk()(e, [&](const ir::ExprNode &node) { found |= is_self_call(func, node); });
    return found;
}

bool combines(Op op) {
    return op == Op::Add || op == Op::Mul || op == Op::Min || op == Op::Max || op == Op::And ||
           op == Op::Or;
}

/// The element that the stage writes.
bool is_written_element(const FuncNode &func, const Stage &stage, const Expr &e, size_t value) {
    return is_self_call(func, *e) && e->index == static_cast<int32_t>(value) &&
           std::equal(e->args.begin(), e->args.end(), stage.args.begin(), stage.args.end(),
                      ir::ExprEqual());
}

bool is_reduction(const FuncNode &func, const Stage &stage, size_t i) {
    const Expr &value = stage.values[i];
    if (combines(value->op)) {
        for (int side : {0, 1})
            if (is_written_element(func, stage, value->args[side], i))
                return !reads_itself(func, value->args[1 - side]);
    }
    // f - e takes e from the sum, in any order.
    return value->op == Op::Sub && is_written_element(func, stage, value->args[0], i) &&
           !reads_itself(func, value->args[1]);
}

}  // namespace

bool is_commutative(const FuncNode &func, const Stage &stage) {
    for (const Expr &arg : stage.args)
        if (reads_itself(func, arg))
            return false;
    if (reads_itself(func, stage.predicate))
        return false;
    for (size_t i = 0; i < stage.values.size(); i++)
        if (!is_reduction(func, stage, i))
            return false;
    return true;
}

}  // namespace Pipe::graph
