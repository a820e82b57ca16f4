#include "support/random_expr.h"

#include <string_view>

#include "ir/intrinsics.h"
#include "ir/linear.h"

using namespace Pipe;
using namespace Pipe::ir;

namespace test {
namespace {

const Type scalar_types[] = {Int(8),  UInt(8),  Int(16),   UInt(16),  Int(32), UInt(32),
                             Int(64), UInt(64), Float(32), Float(64), Bool()};

/// The number of the variable of a type that is_param.
constexpr int param = 2;

std::string variable_name(Type type, int i) {
    return to_string(type) + "_" + std::to_string(i);
}

}  // namespace

Type RandomExpr::scalar_type() {
    return scalar_types[below(std::size(scalar_types))];
}

int64_t RandomExpr::integer(Type type) {
    switch (below(8)) {
    case 0:
        return type.bits() >= 32 ? below(100000) - 50000 : type.min_int();
    case 1:
        return type.bits() >= 32 ? below(100000) : type.max_int();
    case 2:
        return 1 << below(6);
    default:
        return below(21) - (type.is_int() ? 10 : 0);
    }
}

Expr RandomExpr::leaf(Type type) {
    if (!lets_.empty() && below(3) == 0) {
        const auto &[name, let_type] = lets_[below(static_cast<int>(lets_.size()))];
        if (let_type == type)
            return make_variable(type, name);
    }
    if (below(3) != 0) {
        int i = below(3);
        return i == param ? make_param(type, variable_name(type, i))
                          : make_variable(type, variable_name(type, i));
    }
    if (type.is_float())
        return make_float(type, below(2) ? below(9) - 4 : (below(2000) - 1000) / 64.0);
    if (type.is_bool())
        return Expr(below(2) == 0);
    const bool is_far = type.bits() >= 32 && below(12) == 0;
    return make_int(type, is_far ? far_integer(type) : integer(type));
}

/// A value or infinity.
Expr RandomExpr::perhaps_far(Type type, int depth) {
    const Expr far = make_broadcast(make_int(type.element_of(), far_integer(type.element_of())),
                                    type.lanes()),
               near = make(type, depth);
    switch (below(3)) {
    case 0:
        return make_binary(Op::Min, near, far);
    case 1:
        return make_binary(Op::Max, near, far);
    default:
        return make_select(boolean(Bool(type.lanes()), depth), near, far);
    }
}

/// What stands for infinity.
int64_t RandomExpr::far_integer(Type type) {
    const int64_t most = type.max_int(), least = type.min_int();
    const int64_t some[] = {most,     least,     most - 1, least + 1,
                            most / 2, least / 2, most / 3, 1 << 30};
    return some[below(std::size(some))];
}

Expr RandomExpr::boolean(Type type, int depth) {
    if (depth <= 0)
        return type.is_vector() ? make_broadcast(leaf(Bool()), type.lanes()) : leaf(type);
    switch (below(6)) {
    case 0:
        return make_not(make(type, depth - 1));
    case 1:
        return make_binary(Op::And, make(type, depth - 1), make(type, depth - 1));
    case 2:
        return make_binary(Op::Or, make(type, depth - 1), make(type, depth - 1));
    default: {
        Type operand =
            (type.is_vector() || below(2) ? Int(32) : scalar_type()).with_lanes(type.lanes());
        if (operand.is_bool())
            operand = Int(32);
        Op op = static_cast<Op>(static_cast<int>(Op::EQ) + below(6));
        if (has_no_overflow(operand) && below(6) == 0)
            return make_binary(op, perhaps_far(operand, depth - 1),
                               make_binary(Op::Sub, make(operand, depth - 1), make(operand, 0)));
        return make_binary(op, make(operand, depth - 1), make(operand, depth - 1));
    }
    }
}

Expr RandomExpr::vector(Type type, int depth) {
    Type scalar = type.element_of();
    if (type.is_int_or_uint() && !type.is_bool() && below(2))
        return make_ramp(make(scalar, depth - 1), make_int(scalar, below(5) - 1), type.lanes());
    return make_broadcast(make(scalar, depth - 1), type.lanes());
}

Expr RandomExpr::integer_operation(Type type, int depth) {
    struct Operation {
        const char *name;
        int operands;
        bool shifts;  ///< the last operand is an amount
    };
    static const Operation table[] = {
        {intrinsic::saturating_add, 2, false},
        {intrinsic::saturating_sub, 2, false},
        {intrinsic::halving_add, 2, false},
        {intrinsic::halving_sub, 2, false},
        {intrinsic::rounding_halving_add, 2, false},
        {intrinsic::rounding_shift_left, 2, true},
        {intrinsic::rounding_shift_right, 2, true},
        {intrinsic::mul_shift_right, 3, true},
        {intrinsic::div_round_to_zero, 2, false},
        {intrinsic::rounding_mul_shift_right, 3, true},
        {intrinsic::mod_round_to_zero, 2, false},
        {intrinsic::popcount, 1, false},
        {intrinsic::count_leading_zeros, 1, false},
        {intrinsic::count_trailing_zeros, 1, false},
        {intrinsic::lerp, 3, false},
    };
    const Operation &op = table[below(std::size(table))];
    if (op.operands == 3 && type.bits() == 64)
        return make(type, depth - 1);  // there is no product of twice the bits
    if (op.name == std::string_view(intrinsic::lerp)) {
        Expr weight = make(UInt(type.bits()).with_lanes(type.lanes()), depth - 1);
        return make_call(type, op.name, {make(type, depth - 1), make(type, depth - 1), weight},
                         CallKind::Intrinsic);
    }
    std::vector<Expr> args;
    for (int i = 0; i < op.operands; i++) {
        bool amount = op.shifts && i == op.operands - 1;
        if (!amount) {
            args.push_back(make(type, depth - 1));
            continue;
        }
        Type of = op.operands == 3 || below(2) ? UInt(type.bits()) : Int(type.bits());
        Expr constant = make_int(of, below(type.bits() + 2) - (of.is_int() ? type.bits() / 2 : 0));
        args.push_back(below(2) ? make(of.with_lanes(type.lanes()), depth - 1)
                                : make_broadcast(constant, type.lanes()));
    }
    return make_call(type, op.name, args, CallKind::Intrinsic);
}

Expr RandomExpr::make(Type type, int depth) {
    if (type.is_vector() && (depth <= 0 || below(3) == 0))
        return vector(type, depth);
    if (type.is_bool())
        return boolean(type, depth);
    if (depth <= 0)
        return leaf(type);
    switch (below(16)) {
    case 14:
    case 15:
        if (!type.is_float())
            return integer_operation(type, depth);
        return make_binary(Op::Add, make(type, depth - 1), make(type, depth - 1));
    case 0:
        return make_select(boolean(Bool(below(2) ? type.lanes() : 1), depth - 1),
                           make(type, depth - 1), make(type, depth - 1));
    case 1: {
        Type from = scalar_type().with_lanes(type.lanes());
        return make_cast(type, make(from.is_bool() ? type : from, depth - 1));
    }
    case 2:
        if (type.is_scalar()) {  // let
            Type value_type = below(2) ? type : Int(32);
            Expr value = make(value_type, depth - 1);
            std::string name = "let" + std::to_string(below(3) ? next_let_++ : 0);
            lets_.emplace_back(name, value_type);
            Expr body = make(type, depth - 1);
            lets_.pop_back();
            // The name may hide one of another type: rename uses by not using it then.
            bool hides = false;
            for (const auto &let : lets_)
                hides |= let.first == name && let.second != value_type;
            return hides ? value_type == type ? value : make_cast(type, value)
                         : make_let(name, value, body);
        }
        [[fallthrough]];
    case 3:
        if (type.is_int_or_uint() && below(2))
            return make_call(type, intrinsic::likely, {make(type, depth - 1)}, CallKind::Intrinsic);
        [[fallthrough]];
    case 4:
    case 5:
        if (!type.is_float()) {  // by a constant
            Op op = std::vector{Op::Div, Op::Mod, Op::Mul}[below(3)];
            Expr c = make_int(type.element_of(), below(4) ? 1 << below(5) : integer(type));
            return make_binary(op, make(type, depth - 1), make_broadcast(c, type.lanes()));
        }
        [[fallthrough]];
    default: {
        const Op ops[] = {Op::Add, Op::Sub, Op::Add, Op::Sub, Op::Min,
                          Op::Max, Op::Mul, Op::Div, Op::Mod};
        Op op = ops[below(type.is_float() ? 8 : 9)];
        return make_binary(op, make(type, depth - 1), make(type, depth - 1));
    }
    }
}

/// Often near the ends of the type.
int64_t RandomExpr::any_integer(Type type) {
    switch (below(4)) {
    case 0:
        return type.min_int() + below(50);
    case 1:
        return type.max_int() - below(50);
    case 2:
        return static_cast<int64_t>(random_());
    default:
        return integer(type);
    }
}

Environment RandomExpr::values() {
    Environment result;
    for (Type type : scalar_types)
        for (int i = 0; i < 3; i++) {
            Value v;
            if (type.is_float()) {
                const double specials[] = {0.0, -0.0, 1.0 / 0.0, 0.0 / 0.0};
                v.f = below(6) == 0 ? specials[below(4)] : (below(2000) - 1000) / 32.0;
            } else if (type.is_bool()) {
                v.i = below(2);
            } else {
                v.i = make_int(type, i == param ? any_integer(type) : integer(type))->int_value;
            }
            result[variable_name(type, i)] = {v};
        }
    return result;
}

}  // namespace test
