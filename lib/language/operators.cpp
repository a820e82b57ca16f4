#include <pipe/operators.h>

#include <algorithm>

#include <fmt/format.h>

#include "ir/fold.h"
#include "ir/intrinsics.h"
#include "language/match.h"

namespace Pipe {

using ir::Op;
using language::describe;
using language::match_types;
using language::reject;
using language::require_defined;

namespace {
constexpr const char *cast_the_bool =
    "it works on numbers. Cast the bool first, as in cast<uint8_t>(x).";
}

namespace detail {

Expr literal(const Expr &other, int value, const char *op) {
    require_defined(op, other);
    Type type = other.type().element_of();
    if (type.is_float())
        return ir::make_float(type, value);
    if (type.is_handle())
        return Expr(value);
    if (!type.can_represent(value))
        reject(
            op, other, Expr(value),
            fmt::format("the constant {} does not fit into {}. Cast the other operand to a wider "
                        "type first.",
                        value, to_string(type)));
    return ir::make_int(type, value);
}

Expr number_literal(const Expr &other, int value, const char *op) {
    // Not as a bool: 1 would be printed as "true".
    if (other.defined() && other.type().is_bool())
        reject(op, other, Expr(value), cast_the_bool);
    return literal(other, value, op);
}

Expr shift_amount(const Expr &other, int value) {
    require_defined("shift", other);
    Type type = other.type();
    return type.is_int_or_uint() && !type.is_bool() ? ir::make_int(Int(type.bits()), value)
                                                    : Expr(value);
}

}  // namespace detail

namespace {

Expr binary(Op op, const Expr &a, const Expr &b) {
    if (Expr folded = ir::fold_binary(op, a, b); folded.defined())
        return folded;
    return ir::make_binary(op, a, b);
}

Expr arithmetic(Op op, const char *name, Expr a, Expr b) {
    match_types(name, a, b);
    if (a.type().is_handle() || a.type().is_bool())
        reject(name, a, b, "it works on numbers. Cast them first, as in cast<uint8_t>(x).");
    return binary(op, a, b);
}

Expr comparison(Op op, const char *name, Expr a, Expr b) {
    match_types(name, a, b);
    if (a.type().is_handle())
        reject(name, a, b, "it works on numbers, not on handles.");
    return binary(op, a, b);
}

Expr logical(Op op, const char *name, const Expr &a, const Expr &b) {
    require_defined(name, a, b);
    if (!a.type().is_bool() || !b.type().is_bool())
        reject(name, a, b, "both must be bool. Compare with 0, as in x != 0.");
    for (auto [constant, other] : {std::pair(a, b), std::pair(b, a)}) {
        if (constant->op != Op::UIntImm)
            continue;
        bool decides = (constant->uint_value != 0) == (op == Op::Or);
        return decides ? constant : other;
    }
    return ir::make_binary(op, a, b);
}

bool is_bit_pattern(Type type) {
    return type.is_int_or_uint() && !type.is_bool();
}

/// The result has the type of the wider operand, or of the first if both are equally wide.
void match_bits(const char *name, Expr &a, Expr &b) {
    require_defined(name, a, b);
    if (!is_bit_pattern(a.type()) || !is_bit_pattern(b.type()))
        reject(name, a, b, "it works on integers. Cast them first.");
    if (a.type().bits() < b.type().bits())
        a = cast(b.type(), a);
    else
        b = cast(a.type(), b);
}

template <typename F> Expr bitwise(const char *name, const char *intrinsic, Expr a, Expr b, F &&f) {
    match_bits(name, a, b);
    if (a->op == b->op && ir::is_constant(a) && a.type().is_scalar())
        return ir::make_int(a.type(), static_cast<int64_t>(f(a->uint_value, b->uint_value)));
    Type type = a.type();
    return ir::make_call(type, intrinsic, {std::move(a), std::move(b)}, ir::CallKind::Intrinsic);
}

Expr shift(const char *name, const char *intrinsic, Expr a, Expr amount) {
    require_defined(name, a, amount);
    if (!is_bit_pattern(a.type()) || !is_bit_pattern(amount.type()))
        reject(name, a, amount, "it works on integers. Cast them first.");
    int bits = std::max(a.type().bits(), amount.type().bits());
    a = cast(a.type().with_bits(bits), a);
    amount = cast(amount.type().with_bits(bits), amount);
    Type type = a.type();
    return ir::make_call(type, intrinsic, {std::move(a), std::move(amount)},
                         ir::CallKind::Intrinsic);
}

bool both_bool(const Expr &a, const Expr &b) {
    return a.defined() && b.defined() && a.type().is_bool() && b.type().is_bool();
}

/// A constant bound is likely meant as written, so it is the value that needs another type. A wider type
/// of a float value does not help against an integer bound.
std::string why_no_bound(Type value, const Expr &bound) {
    const std::string to = to_string(value), from = to_string(bound.type());
    if (ir::is_constant(bound))
        return "the bound does not fit into " + to + ". Cast the value first.";
    const bool wider = bound.type().is_float() || !value.is_float();
    return to + " does not represent all values of " + from + ". Cast the bound to " + to +
           (wider ? ", or the value to " + from : "") + ".";
}

}  // namespace

Expr operator+(const Expr &a, const Expr &b) {
    return arithmetic(Op::Add, "Operator +", a, b);
}
Expr operator-(const Expr &a, const Expr &b) {
    return arithmetic(Op::Sub, "Operator -", a, b);
}
Expr operator*(const Expr &a, const Expr &b) {
    return arithmetic(Op::Mul, "Operator *", a, b);
}
Expr operator/(const Expr &a, const Expr &b) {
    return arithmetic(Op::Div, "Operator /", a, b);
}

Expr operator%(const Expr &a, const Expr &b) {
    require_defined("Operator %", a, b);
    if (!a.type().is_float() && !b.type().is_float())
        return arithmetic(Op::Mod, "Operator %", a, b);
    Expr x = a, y = b;
    match_types("Operator %", x, y);
    if (x.type().bits() == 16)  // rounded once, at the end
        return cast(x.type(), cast(Float(32), x) % cast(Float(32), y));
    return x - y * floor(x / y);
}

Expr operator==(const Expr &a, const Expr &b) {
    return comparison(Op::EQ, "Operator ==", a, b);
}
Expr operator!=(const Expr &a, const Expr &b) {
    return comparison(Op::NE, "Operator !=", a, b);
}
Expr operator<(const Expr &a, const Expr &b) {
    return comparison(Op::LT, "Operator <", a, b);
}
Expr operator<=(const Expr &a, const Expr &b) {
    return comparison(Op::LE, "Operator <=", a, b);
}
Expr operator>(const Expr &a, const Expr &b) {
    return comparison(Op::GT, "Operator >", a, b);
}
Expr operator>=(const Expr &a, const Expr &b) {
    return comparison(Op::GE, "Operator >=", a, b);
}

Expr operator&&(const Expr &a, const Expr &b) {
    return logical(Op::And, "Operator &&", a, b);
}
Expr operator||(const Expr &a, const Expr &b) {
    return logical(Op::Or, "Operator ||", a, b);
}

Expr operator!(const Expr &a) {
    require_defined("operator !", a);
    if (!a.type().is_bool())
        reject("Operator !", a, "it must be bool. Compare with 0, as in x == 0.");
    return a->op == Op::UIntImm ? Expr(a->uint_value == 0) : ir::make_not(a);
}

Expr operator-(const Expr &a) {
    require_defined("unary operator -", a);
    if (a.type().is_bool() || a.type().is_handle())
        reject("Unary operator -", a, "it is not a number. Use ! for bools, or cast<int>(x).");
    if (a.type().is_float())
        return ir::make_float(a.type(), -0.0) - a;  // 0 - 0 would be 0, not -0
    return ir::make_const(a.type(), 0) - a;
}

Expr operator&(const Expr &a, const Expr &b) {
    if (both_bool(a, b))
        return a && b;
    return bitwise("Operator &", ir::intrinsic::bitwise_and, a, b, std::bit_and<uint64_t>());
}

Expr operator|(const Expr &a, const Expr &b) {
    if (both_bool(a, b))
        return a || b;
    return bitwise("Operator |", ir::intrinsic::bitwise_or, a, b, std::bit_or<uint64_t>());
}

Expr operator^(const Expr &a, const Expr &b) {
    if (both_bool(a, b))
        return a != b;
    return bitwise("Operator ^", ir::intrinsic::bitwise_xor, a, b, std::bit_xor<uint64_t>());
}

Expr operator~(const Expr &a) {
    require_defined("operator ~", a);
    if (a.type().is_bool())
        return !a;
    if (!is_bit_pattern(a.type()))
        reject("Operator ~", a, "it works on integers. Cast it first.");
    return ir::make_call(a.type(), ir::intrinsic::bitwise_not, {a}, ir::CallKind::Intrinsic);
}

Expr operator<<(const Expr &a, const Expr &b) {
    return shift("Operator <<", ir::intrinsic::shift_left, a, b);
}

Expr operator>>(const Expr &a, const Expr &b) {
    return shift("Operator >>", ir::intrinsic::shift_right, a, b);
}

Expr &operator+=(Expr &a, const Expr &b) {
    return a = a + cast(a.type(), b);
}
Expr &operator-=(Expr &a, const Expr &b) {
    return a = a - cast(a.type(), b);
}
Expr &operator*=(Expr &a, const Expr &b) {
    return a = a * cast(a.type(), b);
}
Expr &operator/=(Expr &a, const Expr &b) {
    return a = a / cast(a.type(), b);
}

Expr cast(Type type, const Expr &value) {
    require_defined("cast", value);
    if (value.type() == type)
        return value;
    if (type.is_handle() || value.type().is_handle() || !type.defined())
        reject("cast", value,
               "it cannot be cast to " + to_string(type) +
                   ". Use a numeric type, as in cast<float>(x).");
    if (value.type().is_scalar())
        language::require_scalar("cast of " + describe(value), type);
    if (type.lanes() != value.type().lanes())  // a vector's lanes, if lowering casts
        type = type.with_lanes(value.type().lanes());
    if (Expr folded = ir::fold_cast(type, value); folded.defined())
        return folded;
    if (type.is_bool())
        return value != ir::make_const(value.type(), 0);
    return ir::make_cast(type, value);
}

Expr saturating_cast(Type type, const Expr &value) {
    require_defined("saturating_cast", value);
    language::require_scalar("saturating_cast of " + describe(value), type);
    if (type.is_float() || value.type() == type || value.type().is_bool())
        return cast(type, value);
    Type from = value.type();
    if (from.is_float() && from.bits() == 16)  // the bounds are not exact in float16
        return saturating_cast(type, cast(Float(32), value));
    Expr low = from.is_float() ? ir::make_float(from, static_cast<double>(type.min_int()))
                               : ir::make_int(from, std::max(type.min_int(), from.min_int()));
    Expr high =
        from.is_float()
            ? ir::make_float(from, static_cast<double>(type.max_uint()))
            : ir::make_int(from, static_cast<int64_t>(std::min(type.max_uint(), from.max_uint())));
    // If the largest value is not representable as a float, rounding moves the bound out of range:
    // compare first.
    if (from.is_float() && type.bits() >= 32)
        return select(value >= high, ir::make_int(type, static_cast<int64_t>(type.max_uint())),
                      cast(type, max(value, low)));
    return cast(type, max(min(value, high), low));
}

Expr reinterpret(Type type, const Expr &value) {
    require_defined("reinterpret", value);
    if (value.type().is_scalar())
        language::require_scalar("reinterpret of " + describe(value), type);
    if (type.bits() != value.type().bits())
        reject("reinterpret", value,
               "its size differs from that of " + to_string(type) +
                   ". Use a type with as many bits, or cast<...>().");
    return ir::make_reinterpret(type, value);
}

Expr select(const Expr &condition, const Expr &if_true, const Expr &if_false) {
    require_defined("select", condition);
    if (!condition.type().is_bool())
        reject("select", condition, "the condition must be bool. Compare with 0, as in x != 0.");
    Expr t = if_true, f = if_false;
    language::adapt_constants("select", t, f);
    if (t.type() != f.type())
        reject("select", t, f, "the two values must have one type. Cast one of them.");
    if (condition->op == Op::UIntImm)
        return condition->uint_value ? t : f;
    return ir::make_select(condition, t, f);
}

Expr min(const Expr &a, const Expr &b) {
    return arithmetic(Op::Min, "min", a, b);
}
Expr max(const Expr &a, const Expr &b) {
    return arithmetic(Op::Max, "max", a, b);
}

Expr clamp(const Expr &value, const Expr &low, const Expr &high) {
    require_defined("clamp", value);
    if (value.type().is_bool())
        reject("clamp", value, cast_the_bool);
    auto bound = [&](const Expr &b) {
        require_defined("clamp", value, b);
        Expr same = language::lossless_cast(value.type(), b);
        if (!same.defined())
            reject("clamp", value, b, why_no_bound(value.type(), b));
        return same;
    };
    Expr lo = bound(low), hi = bound(high);
    return max(min(value, hi), lo);
}

}  // namespace Pipe
