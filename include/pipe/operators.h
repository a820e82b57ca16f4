#pragma once
// Operators and functions on Expr.
//
// Operands of different types are converted to a common type: an `int` literal to the type of the
// other operand (CompileError if it does not fit); an integer to the type of a float; the narrower
// of two floats to the wider; the narrower of two integers to the wider, which becomes signed if
// one of the two is signed. Arithmetic on two bools is a CompileError. Vars, RVars, Params and
// elements of Funcs and images convert to Expr.
//
// Operations on constants are folded at once. CompileErrors name the operator, both operands and
// their types.

#include <concepts>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <pipe/expr.h>

namespace Pipe {

namespace detail {
/// `value` in the type of `other`; CompileError (naming `op`) if it does not fit.
Expr literal(const Expr &other, int value, const char *op);
/// The same for an operator that takes no bools.
Expr number_literal(const Expr &other, int value, const char *op);
/// The same for the amount of a shift: signed, because it may be negative.
Expr shift_amount(const Expr &other, int value);
template <typename T>
concept IntLiteral = std::same_as<T, int>;
}  // namespace detail

#define PIPE_BINARY_OPERATOR(op, constant)                                                         \
    Expr operator op(const Expr &a, const Expr &b);                                                \
    template <detail::IntLiteral I> Expr operator op(const Expr &a, I b) {                         \
        return a op detail::constant(a, b, "Operator " #op);                                       \
    }                                                                                              \
    template <detail::IntLiteral I> Expr operator op(I a, const Expr &b) {                         \
        return detail::constant(b, a, "Operator " #op) op b;                                       \
    }

PIPE_BINARY_OPERATOR(+, number_literal)
PIPE_BINARY_OPERATOR(-, number_literal)
PIPE_BINARY_OPERATOR(*, number_literal)
/// Of integers: Euclidean (a - (a / b) * b is in [0, |b|)); x / 0 = 0.
PIPE_BINARY_OPERATOR(/, number_literal)
/// Of integers: in [0, |b|), x % 0 = 0; of floats: sign of b.
PIPE_BINARY_OPERATOR(%, number_literal)
PIPE_BINARY_OPERATOR(==, literal)
PIPE_BINARY_OPERATOR(!=, literal)
PIPE_BINARY_OPERATOR(<, literal)
PIPE_BINARY_OPERATOR(<=, literal)
PIPE_BINARY_OPERATOR(>, literal)
PIPE_BINARY_OPERATOR(>=, literal)
/// &, | and ^: of integers, or of two bools; the result has the type of the wider operand.
PIPE_BINARY_OPERATOR(&, literal)
PIPE_BINARY_OPERATOR(|, literal)
PIPE_BINARY_OPERATOR(^, literal)
#undef PIPE_BINARY_OPERATOR

/// Shifts of integers by any number of bits. A negative amount shifts the other way. The right
/// shift of a signed value keeps its sign.
Expr operator<<(const Expr &a, const Expr &amount);
Expr operator>>(const Expr &a, const Expr &amount);
template <detail::IntLiteral I> Expr operator<<(const Expr &a, I amount) {
    return a << detail::shift_amount(a, amount);
}
template <detail::IntLiteral I> Expr operator>>(const Expr &a, I amount) {
    return a >> detail::shift_amount(a, amount);
}

/// Logical operators on bools. Both sides may be evaluated.
Expr operator&&(const Expr &a, const Expr &b);
Expr operator||(const Expr &a, const Expr &b);
Expr operator!(const Expr &a);
Expr operator-(const Expr &a);
Expr operator~(const Expr &a);

/// Compound assignments. `b` is cast to the type of `a`.
Expr &operator+=(Expr &a, const Expr &b);
Expr &operator-=(Expr &a, const Expr &b);
Expr &operator*=(Expr &a, const Expr &b);
Expr &operator/=(Expr &a, const Expr &b);

/// Converts to another type: float to integer truncates (out of range: undefined), integer to a
/// narrower integer wraps, anything to bool means `!= 0`.
Expr cast(Type type, const Expr &value);
template <typename T> Expr cast(const Expr &value) {
    return cast(type_of<T>(), value);
}
/// The same, clamped to the range of the type first.
Expr saturating_cast(Type type, const Expr &value);
template <typename T> Expr saturating_cast(const Expr &value) {
    return saturating_cast(type_of<T>(), value);
}
/// The same bits as a value of another type of the same size.
Expr reinterpret(Type type, const Expr &value);
template <typename T> Expr reinterpret(const Expr &value) {
    return reinterpret(type_of<T>(), value);
}

namespace detail {
template <typename T>
concept ToExpr = std::convertible_to<T, Expr>;

/// An argument that records the source line at which it is written: for variadic functions, which
/// cannot end with a default argument.
struct ExprAt {
    Expr expr;
    SourceLocation where;

    template <ToExpr T>
    ExprAt(const T &value, SourceLocation at = std::source_location::current())
        : expr(value), where(at) {}
};
}  // namespace detail

/// `condition` is a bool. The two values have one type; an integer constant takes the type of the
/// other value. Both may be evaluated.
Expr select(const Expr &condition, const Expr &if_true, const Expr &if_false);
/// select(c0, v0, c1, v1, ..., otherwise): the value of the first condition that holds.
template <detail::ToExpr... Rest>
requires(sizeof...(Rest) >= 2) Expr select(const Expr &condition, const Expr &value,
                                           const Expr &next_condition, const Rest &...rest) {
    return select(condition, value, select(next_condition, rest...));
}

/// The smaller value, `a < b ? a : b`. For floats, the result is therefore b if either is NaN, and a
/// min or max reduction over values with NaNs may depend on the schedule (vectorized and parallel
/// reductions combine values in another order).
Expr min(const Expr &a, const Expr &b);
/// The larger value: a > b ? a : b. NaN as for min().
Expr max(const Expr &a, const Expr &b);
template <detail::IntLiteral I> Expr min(const Expr &a, I b) {
    return min(a, detail::number_literal(a, b, "min"));
}
template <detail::IntLiteral I> Expr min(I a, const Expr &b) {
    return min(detail::number_literal(b, a, "min"), b);
}
template <detail::IntLiteral I> Expr max(const Expr &a, I b) {
    return max(a, detail::number_literal(a, b, "max"));
}
template <detail::IntLiteral I> Expr max(I a, const Expr &b) {
    return max(detail::number_literal(b, a, "max"), b);
}
template <detail::ToExpr A, detail::ToExpr B, detail::ToExpr C, detail::ToExpr... Rest>
requires(std::is_class_v<A> || std::is_class_v<B> || std::is_class_v<C> ||
         (std::is_class_v<Rest> || ...)) Expr
    min(const A &a, const B &b, const C &c, const Rest &...rest) {
    if constexpr (std::is_class_v<A> || std::is_class_v<B>)
        return min(Expr(min(a, b)), c, rest...);
    else
        return min(a, Expr(min(b, c, rest...)));
}
template <detail::ToExpr A, detail::ToExpr B, detail::ToExpr C, detail::ToExpr... Rest>
requires(std::is_class_v<A> || std::is_class_v<B> || std::is_class_v<C> ||
         (std::is_class_v<Rest> || ...)) Expr
    max(const A &a, const B &b, const C &c, const Rest &...rest) {
    if constexpr (std::is_class_v<A> || std::is_class_v<B>)
        return max(Expr(max(a, b)), c, rest...);
    else
        return max(a, Expr(max(b, c, rest...)));
}
/// Limits `value` to low..high, in its type, which must be able to represent the bounds. Requires
/// low <= high.
Expr clamp(const Expr &value, const Expr &low, const Expr &high);

/// |x|. For signed integers the result is unsigned, of the same width, so that it always fits.
Expr abs(const Expr &x);
/// |a - b|. For signed integers the result is unsigned, of the same width. For bools: a != b.
Expr absd(const Expr &a, const Expr &b);

// Mathematical functions. Integers are converted to float first; double stays double. For 16-bit
// floats, these functions, % and lerp are computed as float and rounded once at the end; fma is
// exact before that rounding.
Expr sqrt(const Expr &x);
Expr exp(const Expr &x);
Expr log(const Expr &x);
Expr pow(const Expr &x, const Expr &y);  ///< a constant integer power becomes multiplications
Expr sin(const Expr &x);
Expr cos(const Expr &x);
Expr tan(const Expr &x);
Expr asin(const Expr &x);
Expr acos(const Expr &x);
Expr atan(const Expr &x);
Expr atan2(const Expr &y, const Expr &x);
Expr sinh(const Expr &x);
Expr cosh(const Expr &x);
Expr tanh(const Expr &x);
Expr asinh(const Expr &x);
Expr acosh(const Expr &x);
Expr atanh(const Expr &x);
Expr hypot(const Expr &x, const Expr &y);  ///< sqrt(x * x + y * y)
Expr erf(const Expr &x);
/// a * b + c of floats, rounded once. Slow on processors without such an instruction.
Expr fma(const Expr &a, const Expr &b, const Expr &c);
Expr floor(const Expr &x);
Expr ceil(const Expr &x);
Expr round(const Expr &x);  ///< halves to even
Expr trunc(const Expr &x);
Expr fract(const Expr &x);  ///< x - trunc(x)
Expr is_nan(const Expr &x);
Expr is_inf(const Expr &x);
Expr is_finite(const Expr &x);

/// zero * (1 - weight) + one * weight; both values have one type. An unsigned weight is divided by
/// its type's largest value. Between integers, the result is exact and rounded to nearest; a float
/// weight, which must lie in [0, 1], is first converted to a fixed-point number of as many bits as
/// they have (truncated).
Expr lerp(const Expr &zero, const Expr &one, const Expr &weight);

/// Returns x. Marks an operand of select, min, max or clamp as the likely one: loops are partitioned
/// so that their interior evaluates only this operand.
Expr likely(const Expr &x);
/// The same as likely(); Halide restricts it to innermost loops.
Expr likely_if_innermost(const Expr &x);
/// An unspecified value, which is not stored: `f(x) = undef<float>()` leaves f uninitialized for
/// updates to fill, and `f(x) = select(c, v, undef<float>())` stores only if c is true.
Expr undef(Type type);
template <typename T> Expr undef() {
    return undef(type_of<T>());
}
/// In an update definition: several stores at once. f(scatter(1, 2)) = gather(a, b) stores a at 1
/// and b at 2. Surrounding expressions apply to each element, so f(scatter(i, j)) = f(gather(j, i))
/// swaps two elements. All values are read before the first is stored; the stores follow in order.
/// All scatters and gathers of a definition must have the same size.
Expr scatter(const std::vector<Expr> &values);
Expr gather(const std::vector<Expr> &values);
template <detail::ToExpr... More> Expr scatter(const Expr &first, const More &...more) {
    return scatter(std::vector<Expr>{first, Expr(more)...});
}
template <detail::ToExpr... More> Expr gather(const Expr &first, const More &...more) {
    return gather(std::vector<Expr>{first, Expr(more)...});
}
/// Returns x, and promises low <= x <= high to bounds inference; an undefined Expr is no bound.
/// Compiled code does not check the promise, and accesses memory out of bounds if it is false;
/// realize_reference checks it.
Expr unsafe_promise_clamped(const Expr &x, const Expr &low, const Expr &high);
/// The same.
Expr promise_clamped(const Expr &x, const Expr &low, const Expr &high);
/// `value` itself. Declares what memoized Funcs that use it depend on: on these keys instead of the
/// contents of `value`; without keys, on its numeric value. Keys, and a value without keys, may
/// contain Params, constants and sizes of images only (else CompileError). If keys fail to
/// distinguish different values, the cache returns wrong results.
Expr memoize_tag(const Expr &value, const std::vector<Expr> &keys);
template <detail::ToExpr... Keys> Expr memoize_tag(const Expr &value, const Keys &...keys) {
    return memoize_tag(value, std::vector<Expr>{Expr(keys)...});
}
/// Returns x. Floating-point operations inside are neither contracted to fused ones nor reassociated,
/// also with Target::FastMath.
Expr strict_float(const Expr &x);

}  // namespace Pipe
