#include "ir/fold.h"

#include <cmath>

#include "ir/integer_ops.h"
#include "ir/intrinsics.h"
#include "ir/linear.h"

namespace Pipe::ir {
namespace {

bool is_integer_constant(const Expr &e) {
    return e->op == Op::IntImm || e->op == Op::UIntImm;
}

/// Wide enough for sums and products of any two 64-bit numbers, except two large uint64.
using Wide = __int128;

Wide value_of(const Expr &e) {
    return e->op == Op::IntImm ? static_cast<Wide>(e->int_value) : static_cast<Wide>(e->uint_value);
}

/// Undefined if the overflow is undefined; wrapped otherwise.
Expr make_wide(Type type, Wide value) {
    bool in_range =
        value >= INT64_MIN && value <= INT64_MAX && type.can_represent(static_cast<int64_t>(value));
    if (has_no_overflow(type) && !in_range)
        return Expr();
    return make_int(type, static_cast<int64_t>(static_cast<uint64_t>(value)));
}

Wide euclidean_quotient(Wide a, Wide b) {
    if (b == 0)
        return 0;
    Wide q = a / b;
    if (a % b < 0)
        q += b > 0 ? -1 : 1;
    return q;
}

template <typename T> Expr compare_values(Op op, T a, T b) {
    switch (op) {
    case Op::EQ:
        return Expr(a == b);
    case Op::NE:
        return Expr(a != b);
    case Op::LT:
        return Expr(a < b);
    case Op::LE:
        return Expr(a <= b);
    case Op::GT:
        return Expr(a > b);
    case Op::GE:
        return Expr(a >= b);
    default:
        return Expr();
    }
}

Expr fold_integers(Op op, Type type, const Expr &ea, const Expr &eb) {
    Wide a = value_of(ea), b = value_of(eb);
    switch (op) {
    case Op::Add:
        return make_wide(type, a + b);
    case Op::Sub:
        return make_wide(type, a - b);
    case Op::Mul:
        if (type.is_uint())
            return make_int(type, static_cast<int64_t>(ea->uint_value * eb->uint_value));
        return make_wide(type, a * b);
    case Op::Div:
        return make_wide(type, euclidean_quotient(a, b));
    case Op::Mod:
        return make_wide(type, b == 0 ? 0 : a - euclidean_quotient(a, b) * b);
    case Op::Min:
        return a < b ? ea : eb;
    case Op::Max:
        return a > b ? ea : eb;
    case Op::And:
        return Expr(a != 0 && b != 0);
    case Op::Or:
        return Expr(a != 0 || b != 0);
    default:
        return compare_values(op, a, b);
    }
}

Expr fold_floats(Op op, Type type, double a, double b) {
    // Doubles have more than twice the bits of a float (and of a float16), so rounding their result
    // once more gives the result of arithmetic in that type.
    switch (op) {
    case Op::Add:
        return make_float(type, a + b);
    case Op::Sub:
        return make_float(type, a - b);
    case Op::Mul:
        return make_float(type, a * b);
    case Op::Div:
        return make_float(type, a / b);
    case Op::Min:
        return make_float(type, a < b ? a : b);
    case Op::Max:
        return make_float(type, a > b ? a : b);
    default:
        return compare_values(op, a, b);
    }
}

Expr float_to_integer(Type type, double value) {
    if (type.is_bool())
        return Expr(value != 0);
    double truncated = std::trunc(value);
    double limit = std::ldexp(1.0, type.is_int() ? type.bits() - 1 : type.bits());
    if (!(truncated < limit && truncated >= (type.is_int() ? -limit : 0.0)))
        return Expr();
    auto bits = type.is_int() ? static_cast<int64_t>(truncated)
                              : static_cast<int64_t>(static_cast<uint64_t>(truncated));
    return make_int(type, bits);
}

/// Rounds only once.
Expr integer_to_float(Type type, const Expr &a) {
    bool is_signed = a->op == Op::IntImm;
    if (type.bits() == 16) {
        // Digits beyond the precision of a double only decide on which side of a tie the value
        // lies: any last bit will do.
        const bool negative = is_signed && a->int_value < 0;
        uint64_t size = negative ? 0 - a->uint_value : a->uint_value;
        if (size >> 53)
            size = (size & ~uint64_t{0x7ff}) | (size & 0x7ff ? 0x800 : 0);
        return make_float(type, (negative ? -1.0 : 1.0) * static_cast<double>(size));
    }
    if (type.bits() == 32)
        return make_float(type, is_signed ? static_cast<float>(a->int_value)
                                          : static_cast<float>(a->uint_value));
    return make_float(type, is_signed ? static_cast<double>(a->int_value)
                                      : static_cast<double>(a->uint_value));
}

Expr fold_shift(Type type, const Expr &a, Wide amount, bool left) {
    if (amount < 0) {
        left = !left;
        amount = -amount;
    }
    if (amount >= type.bits())
        return Expr();  // depends on the target
    int n = static_cast<int>(amount);
    if (left)
        return make_int(type, static_cast<int64_t>(a->uint_value << n));
    return type.is_int() ? make_int(type, a->int_value >> n)
                         : make_int(type, static_cast<int64_t>(a->uint_value >> n));
}

}  // namespace

bool is_constant(const Expr &e) {
    return e->op == Op::FloatImm || is_integer_constant(e) ||
           (e->op == Op::Broadcast && is_constant(e->value()));
}

Expr fold_binary(Op op, const Expr &a, const Expr &b) {
    if (is_integer_constant(a) && is_integer_constant(b))
        return fold_integers(op, a.type(), a, b);
    if (a->op == Op::FloatImm && b->op == Op::FloatImm)
        return fold_floats(op, a.type(), a->float_value, b->float_value);
    return Expr();
}

Expr fold_cast(Type type, const Expr &a) {
    if (is_integer_constant(a)) {
        if (type.is_bool())
            return Expr(a->int_value != 0);
        if (type.is_int_or_uint())
            return make_int(type, a->int_value);
        if (type.is_float())
            return integer_to_float(type, a);
    } else if (a->op == Op::FloatImm) {
        if (type.is_int_or_uint())
            return float_to_integer(type, a->float_value);
        if (type.is_float())
            return make_float(type, a->float_value);
    }
    return Expr();
}

Expr fold_intrinsic(const Expr &call) {
    for (const Expr &arg : call->args)
        if (!is_integer_constant(arg))
            return Expr();
    const std::string &name = call->name;
    if (call->call_kind != CallKind::Intrinsic || call->args.empty() || !call.type().is_scalar())
        return Expr();
    if (is_integer_op(call)) {
        std::vector<WideInt> values;
        std::vector<Type> types;
        for (const Expr &arg : call->args) {
            values.push_back(value_of(arg));
            types.push_back(arg.type());
        }
        return make_wide(call.type(), *integer_op(name, call.type(), types, values));
    }
    const Expr &a = call->args[0];
    Type type = call.type();
    if (name == intrinsic::abs)
        return make_wide(type, value_of(a) < 0 ? -value_of(a) : value_of(a));
    if (name == intrinsic::bitwise_not)
        return make_int(type, ~a->int_value);
    if (call->args.size() != 2)
        return Expr();
    const Expr &b = call->args[1];
    if (name == intrinsic::absd) {
        Wide difference = value_of(a) - value_of(b);
        return make_wide(type, difference < 0 ? -difference : difference);
    }
    if (name == intrinsic::shift_left)
        return fold_shift(type, a, value_of(b), true);
    if (name == intrinsic::shift_right)
        return fold_shift(type, a, value_of(b), false);
    if (name == intrinsic::bitwise_and)
        return make_int(type, a->int_value & b->int_value);
    if (name == intrinsic::bitwise_or)
        return make_int(type, a->int_value | b->int_value);
    if (name == intrinsic::bitwise_xor)
        return make_int(type, a->int_value ^ b->int_value);
    return Expr();
}

}  // namespace Pipe::ir
