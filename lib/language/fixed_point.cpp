#include <pipe/fixed_point.h>

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "ir/intrinsics.h"
#include "language/match.h"

namespace Pipe {
namespace {

using language::intrinsic_call;
using language::reject;
namespace in = ir::intrinsic;

void require_integer(const char *name, const Expr &e) {
    language::require_defined(name, e);
    if (!e.type().is_int_or_uint() || e.type().is_bool())
        reject(name, e, "it works on integers. Cast it first.");
}

Expr of_matched(const char *name, Expr a, Expr b) {
    require_integer(name, a), require_integer(name, b);
    language::match_types(name, a, b);
    Type type = a.type();
    return intrinsic_call(name, type, {a, b});
}

Expr widen(const char *name, const Expr &a) {
    require_integer(name, a);
    Type type = a.type();
    if (type.bits() == 64)
        reject(name, a, "no type has twice as many bits. Cast it to a narrower type first.");
    return cast(type.with_bits(2 * type.bits()), a);
}

Expr rounding_shift(const char *name, Expr a, Expr amount) {
    require_integer(name, a), require_integer(name, amount);
    int bits = std::max(a.type().bits(), amount.type().bits());
    a = cast(a.type().with_bits(bits), a);
    amount = cast(amount.type().with_bits(bits), amount);
    Type type = a.type();
    return intrinsic_call(name, type, {a, amount});
}

Expr shifted_product(const char *name, Expr a, Expr b, Expr amount) {
    require_integer(name, a), require_integer(name, b), require_integer(name, amount);
    if (!amount.type().is_uint())
        reject(name, amount,
               "the amount of the shift must be unsigned. Cast it, as in cast<uint8_t>(x).");
    language::match_types(name, a, b);
    int bits = std::max(a.type().bits(), amount.type().bits());
    Type type = a.type().with_bits(bits);
    return intrinsic_call(name, type, {cast(type, a), cast(type, b), cast(UInt(bits), amount)});
}

Expr unsigned_amount(const char *name, const Expr &a, int amount) {
    require_integer(name, a);
    if (amount < 0 || !UInt(a.type().bits()).can_represent(amount))
        reject(name, a,
               fmt::format("the amount of the shift, {}, must fit uint{}: give at least 0.", amount,
                           a.type().bits()));
    return ir::make_int(UInt(a.type().bits()), amount);
}

Expr counted(const char *name, const Expr &x) {
    require_integer(name, x);
    return intrinsic_call(name, x.type(), {x});
}

void require_half(const char *name, const Expr &a, const Expr &b) {
    require_integer(name, a), require_integer(name, b);
    if (a.type().bits() != 2 * b.type().bits())
        reject(name, a, b, "the first must have twice the bits of the second. Cast one of them.");
}

/// A type that represents the values of both.
Type common_integer(const char *name, const Expr &a, const Expr &b) {
    require_integer(name, a), require_integer(name, b);
    Type x = a.type().element_of(), y = b.type().element_of();
    int bits = std::max(x.bits(), y.bits());
    if (x.is_uint() && y.is_uint())
        return UInt(bits);
    int with_sign = std::max(x.is_uint() ? 2 * x.bits() : 0, y.is_uint() ? 2 * y.bits() : 0);
    if (with_sign > 64)
        reject(name, a, b, "no integer type can represent both. Cast one of them.");
    return Int(std::max(bits, with_sign));
}

/// `op` of both operands without conversion, in the type of the first.
template <typename Op> Expr in_exact(const char *name, const Expr &a, const Expr &b, const Op &op) {
    Type exact = common_integer(name, a, b);
    return cast(a.type(), op(cast(exact, a), cast(exact, b)));
}

}  // namespace

Expr fast_integer_divide(const Expr &numerator, const Expr &denominator) {
    return in_exact("fast_integer_divide", numerator, denominator,
                    [](const Expr &n, const Expr &d) { return n / d; });
}
Expr fast_integer_divide_round_to_zero(const Expr &numerator, const Expr &denominator) {
    return in_exact("fast_integer_divide_round_to_zero", numerator, denominator, div_round_to_zero);
}
Expr fast_integer_modulo(const Expr &numerator, const Expr &denominator) {
    return in_exact("fast_integer_modulo", numerator, denominator,
                    [](const Expr &n, const Expr &d) { return n % d; });
}

// clang-format off
Expr saturating_add(const Expr &a, const Expr &b) { return of_matched(in::saturating_add, a, b); }
Expr saturating_sub(const Expr &a, const Expr &b) { return of_matched(in::saturating_sub, a, b); }
Expr halving_add(const Expr &a, const Expr &b) { return of_matched(in::halving_add, a, b); }
Expr halving_sub(const Expr &a, const Expr &b) { return of_matched(in::halving_sub, a, b); }
Expr rounding_halving_add(const Expr &a, const Expr &b) { return of_matched(in::rounding_halving_add, a, b); }
Expr div_round_to_zero(const Expr &x, const Expr &y) { return of_matched(in::div_round_to_zero, x, y); }
Expr mod_round_to_zero(const Expr &x, const Expr &y) { return of_matched(in::mod_round_to_zero, x, y); }
Expr rounding_shift_left(const Expr &a, const Expr &n) { return rounding_shift(in::rounding_shift_left, a, n); }
Expr rounding_shift_right(const Expr &a, const Expr &n) { return rounding_shift(in::rounding_shift_right, a, n); }
Expr mul_shift_right(const Expr &a, const Expr &b, const Expr &n) { return shifted_product(in::mul_shift_right, a, b, n); }
Expr rounding_mul_shift_right(const Expr &a, const Expr &b, const Expr &n) { return shifted_product(in::rounding_mul_shift_right, a, b, n); }
Expr popcount(const Expr &x) { return counted(in::popcount, x); }
Expr count_leading_zeros(const Expr &x) { return counted(in::count_leading_zeros, x); }
Expr count_trailing_zeros(const Expr &x) { return counted(in::count_trailing_zeros, x); }

Expr widening_shift_left(const Expr &a, int n) { return widening_shift_left(a, detail::shift_amount(a, n)); }
Expr widening_shift_right(const Expr &a, int n) { return widening_shift_right(a, detail::shift_amount(a, n)); }
Expr rounding_shift_left(const Expr &a, int n) { return rounding_shift_left(a, detail::shift_amount(a, n)); }
Expr rounding_shift_right(const Expr &a, int n) { return rounding_shift_right(a, detail::shift_amount(a, n)); }
Expr mul_shift_right(const Expr &a, const Expr &b, int n) { return mul_shift_right(a, b, unsigned_amount(in::mul_shift_right, a, n)); }
Expr rounding_mul_shift_right(const Expr &a, const Expr &b, int n) { return rounding_mul_shift_right(a, b, unsigned_amount(in::rounding_mul_shift_right, a, n)); }
// clang-format on

// If a wider type exists, plain arithmetic in it suffices: no intrinsic is needed.

Expr widening_add(const Expr &a, const Expr &b) {
    Expr x = a, y = b;
    require_integer("widening_add", a), require_integer("widening_add", b);
    language::match_types("widening_add", x, y);
    return widen("widening_add", x) + widen("widening_add", y);
}

Expr widening_sub(const Expr &a, const Expr &b) {
    Expr x = a, y = b;
    require_integer("widening_sub", a), require_integer("widening_sub", b);
    language::match_types("widening_sub", x, y);
    Expr wide_x = widen("widening_sub", x), wide_y = widen("widening_sub", y);
    Type type = Int(wide_x.type().bits());
    return cast(type, wide_x) - cast(type, wide_y);
}

Expr widening_mul(const Expr &a, const Expr &b) {
    require_integer("widening_mul", a), require_integer("widening_mul", b);
    int bits = std::max(a.type().bits(), b.type().bits());
    Expr x = widen("widening_mul", cast(a.type().with_bits(bits), a));
    Expr y = widen("widening_mul", cast(b.type().with_bits(bits), b));
    if (x.type().is_int() != y.type().is_int())
        x = cast(Int(2 * bits), x), y = cast(Int(2 * bits), y);
    return x * y;
}

Expr widen_right_add(const Expr &a, const Expr &b) {
    require_half("widen_right_add", a, b);
    return a + widen("widen_right_add", b);
}
Expr widen_right_sub(const Expr &a, const Expr &b) {
    require_half("widen_right_sub", a, b);
    return a - widen("widen_right_sub", b);
}
Expr widen_right_mul(const Expr &a, const Expr &b) {
    require_half("widen_right_mul", a, b);
    return a * widen("widen_right_mul", b);
}

Expr widening_shift_left(const Expr &a, const Expr &amount) {
    require_integer("widening_shift_left", amount);
    return widen("widening_shift_left", a) << amount;
}
Expr widening_shift_right(const Expr &a, const Expr &amount) {
    require_integer("widening_shift_right", amount);
    return widen("widening_shift_right", a) >> amount;
}

Expr extract_bits(Type type, const Expr &e, const Expr &lsb) {
    language::require_defined("extract_bits", e, lsb);
    language::require_scalar("extract_bits", type);
    require_integer("extract_bits", lsb);
    if (e.type().is_handle() || type.is_handle() || e.type().is_bool() || type.is_bool())
        reject("extract_bits", e, "it works on numbers. Cast it first.");
    int bits = std::max(e.type().bits(), type.bits());
    Expr all = cast(UInt(bits), reinterpret(UInt(e.type().bits()), e));
    return reinterpret(type, cast(UInt(type.bits()), all >> cast(Int(bits), lsb)));
}

Expr concat_bits(const std::vector<Expr> &values) {
    size_t count = values.size();
    if (count == 0 || !std::has_single_bit(count))
        throw CompileError(
            fmt::format("concat_bits{} takes 1, 2, 4 or 8 values, not {}. Pad with zeros.",
                        language::nearby(), count));
    for (const Expr &value : values) {
        language::require_defined("concat_bits", value);
        if (value.type() != values[0].type() || value.type().is_handle() ||
            value.type().is_bool() || value.type().is_bfloat())
            reject("concat_bits", values[0], value,
                   "all values must be numbers of one type. Cast them.");
    }
    Type type = values[0].type();
    int bits = static_cast<int>(count) * type.bits();
    if (bits > 64)
        reject("concat_bits", values[0],
               fmt::format("{} values of it have more than 64 bits. Use fewer, or narrower ones.",
                           count));
    Expr result;
    for (size_t i = 0; i < count; i++) {
        Expr part = cast(UInt(bits), reinterpret(UInt(type.bits()), values[i]));
        Expr placed = i == 0 ? part : part << static_cast<int>(i) * type.bits();
        result = result.defined() ? result | placed : placed;
    }
    return reinterpret(type.with_bits(bits), result);
}

}  // namespace Pipe
