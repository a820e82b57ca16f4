#include "autoschedule/operation_cost.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "ir/intrinsics.h"

namespace Pipe::autoschedule {

using ir::CallKind;
using ir::ExprNode;
using ir::Op;

namespace {

bool is_power_of_two(const Expr &e) {
    int exponent = 0;
    return e->op == Op::FloatImm && std::frexp(e->float_value, &exponent) == 0.5;
}

double division_cost(const Expr &e) {
    if (e.type().is_float())
        return is_power_of_two(e->args[1]) ? 1 : 12;
    return ir::is_const_int(e->args[1]) || e->args[1]->op == Op::UIntImm ? 3 : 30;
}

double call_cost(const Expr &e) {
    if (e->call_kind == CallKind::Intrinsic) {
        const bool free = e->name == ir::intrinsic::likely || e->name == ir::intrinsic::undef ||
                          e->name == ir::intrinsic::promise_clamped ||
                          e->name == ir::intrinsic::strict_float;
        return free ? 0 : 1;
    }
    for (const char *cheap : {"sqrt", "floor", "ceil", "round", "trunc", "abs", "fabs"}) {
        if (e->name.rfind(cheap, 0) == 0)
            return cheap[0] == 's' ? 12 : 1;
    }
    return 30;
}

}  // namespace

double instructions(const Expr &e) {
    switch (e->op) {
    case Op::IntImm:
    case Op::UIntImm:
    case Op::FloatImm:
    case Op::StringImm:
    case Op::Variable:
    case Op::Broadcast:
    case Op::Reinterpret:
    case Op::Let:
        return 0;
    case Op::Div:
    case Op::Mod:
        return division_cost(e);
    case Op::Call:
        return call_cost(e);
    default:
        return 1;
    }
}

namespace {

void add(const Expr &e, std::unordered_set<const ExprNode *> &seen, Arithmetic &total) {
    if (!e.defined() || !seen.insert(e.get()).second)
        return;
    const bool load =
        e->op == Op::Call && (e->call_kind == CallKind::Func || e->call_kind == CallKind::Image);
    if (load)
        return;
    int bytes = e.type().bytes();
    for (const Expr &arg : e->args) {
        add(arg, seen, total);
        if (arg.defined())
            bytes = std::max(bytes, arg.type().bytes());
    }
    const bool is_float = e.type().is_float();
    const double work = instructions(e) * bytes;
    total.count += work > 0;
    total.widest = std::max(total.widest, e.type().bytes());
    if (is_float && (e->op == Op::Add || e->op == Op::Sub)) {
        total.sums += work;
    } else if (is_float &&
               (e->op == Op::Mul || (e->op == Op::Div && is_power_of_two(e->args[1])))) {
        total.products += work;
    } else {
        total.other += work;
    }
}

}  // namespace

Arithmetic arithmetic_of(const std::vector<Expr> &values) {
    std::unordered_set<const ExprNode *> seen;
    Arithmetic total;
    for (const Expr &e : values)
        add(e, seen, total);
    return total;
}

}  // namespace Pipe::autoschedule
