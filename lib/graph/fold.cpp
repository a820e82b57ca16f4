#include "graph/fold.h"

#include <cmath>
#include <string_view>

namespace Pipe::graph {
namespace {

using ir::Op;

__int128 euclidean_div(__int128 a, __int128 b) {
    if (b == 0)
        return 0;
    __int128 q = a / b;
    if (a % b < 0)
        q += b > 0 ? -1 : 1;
    return q;
}

/// Any integer constant, exactly.
__int128 integer(const Expr &e) {
    return e->op == Op::UIntImm ? static_cast<__int128>(e->uint_value) : e->int_value;
}

bool wraps(Type type) {
    return type.is_uint() || type.bits() < 32;
}

bool representable(Type type, __int128 value) {
    __int128 high = type.is_uint() ? static_cast<__int128>(type.max_uint()) : type.max_int();
    return value >= type.min_int() && value <= high;
}

template <typename T> std::optional<bool> compare(Op op, T a, T b) {
    switch (op) {
    case Op::EQ:
        return a == b;
    case Op::NE:
        return a != b;
    case Op::LT:
        return a < b;
    case Op::LE:
        return a <= b;
    case Op::GT:
        return a > b;
    case Op::GE:
        return a >= b;
    default:
        return {};
    }
}

std::optional<Expr> fold_integers(Op op, Type type, __int128 a, __int128 b) {
    if (auto holds = compare(op, a, b))
        return Expr(*holds);
    __int128 value = 0;
    switch (op) {
    case Op::Add:
        value = a + b;
        break;
    case Op::Sub:
        value = a - b;
        break;
    case Op::Mul:
        if (!representable(Int(64), a) || !representable(Int(64), b))
            return {};
        value = a * b;
        break;
    case Op::Div:
        value = euclidean_div(a, b);
        break;
    case Op::Mod:
        value = b == 0 ? 0 : a - euclidean_div(a, b) * b;
        break;
    case Op::Min:
        value = std::min(a, b);
        break;
    case Op::Max:
        value = std::max(a, b);
        break;
    case Op::And:
        value = a && b;
        break;
    case Op::Or:
        value = a || b;
        break;
    default:
        return {};
    }
    if (!wraps(type) && !representable(type, value))
        return {};
    return ir::make_int(type, static_cast<int64_t>(value));
}

template <typename T> std::optional<Expr> fold_floats(Op op, Type type, T a, T b) {
    if (auto holds = compare(op, a, b))
        return Expr(*holds);
    T value = 0;
    switch (op) {
    case Op::Add:
        value = a + b;
        break;
    case Op::Sub:
        value = a - b;
        break;
    case Op::Mul:
        value = a * b;
        break;
    case Op::Div:
        value = a / b;
        break;
    case Op::Min:
        value = a < b ? a : b;
        break;
    case Op::Max:
        value = a > b ? a : b;
        break;
    default:
        return {};
    }
    return ir::make_float(type, static_cast<double>(value));
}

}  // namespace

bool is_scalar_constant(const Expr &e) {
    return e.defined() && (e->op == Op::IntImm || e->op == Op::UIntImm || e->op == Op::FloatImm);
}

std::optional<Expr> fold_binary(Op op, const Expr &a, const Expr &b) {
    if (!is_scalar_constant(a) || !is_scalar_constant(b))
        return {};
    Type type = a.type();
    if (type.is_int_or_uint())
        return fold_integers(op, type, integer(a), integer(b));
    if (type.bits() == 64)
        return fold_floats<double>(op, type, a->float_value, b->float_value);
    return fold_floats<float>(op, type, static_cast<float>(a->float_value),
                              static_cast<float>(b->float_value));
}

std::optional<Expr> fold_cast(Type type, const Expr &value) {
    if (!is_scalar_constant(value) || !type.is_scalar() || type.is_handle())
        return {};
    bool from_float = value->op == Op::FloatImm;
    if (type.is_float()) {
        if (from_float)
            return ir::make_float(type, value->float_value);
        return ir::make_float(type, static_cast<double>(integer(value)));
    }
    if (type.is_bool())
        return Expr(from_float ? value->float_value != 0 : integer(value) != 0);
    if (!from_float)
        return ir::make_int(type, static_cast<int64_t>(integer(value)));
    double whole = std::trunc(value->float_value);
    if (!(std::abs(whole) < 9e18) || !representable(type, static_cast<__int128>(whole)))
        return {};
    return ir::make_int(type, static_cast<int64_t>(whole));
}

std::optional<Expr> fold_math(const char *function, const Expr &x) {
    if (!is_scalar_constant(x) || !x.type().is_float())
        return {};
    std::string_view name = function;
    auto apply = [&](auto value) -> std::optional<Expr> {
        if (name == "sqrt")
            return ir::make_float(x.type(), std::sqrt(value));
        if (name == "floor")
            return ir::make_float(x.type(), std::floor(value));
        if (name == "ceil")
            return ir::make_float(x.type(), std::ceil(value));
        if (name == "trunc")
            return ir::make_float(x.type(), std::trunc(value));
        return {};
    };
    return x.type().bits() == 32 ? apply(static_cast<float>(x->float_value))
                                 : apply(x->float_value);
}

}  // namespace Pipe::graph
