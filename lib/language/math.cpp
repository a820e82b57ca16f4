#include <pipe/operators.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ir/intrinsics.h"
#include "language/match.h"

namespace Pipe {

using language::intrinsic_call;
using language::reject;
using language::require_defined;

namespace {

/// Floats keep their type, except that bfloat16 becomes float32, as in Halide.
Expr as_float(const char *function, const Expr &x) {
    require_defined(function, x);
    return x.type().is_float() && !x.type().is_bfloat() ? x : cast(Float(32), x);
}

Expr extern_call(const std::string &function, Type result, const std::vector<Expr> &args) {
    return ir::make_call(result, function + (args[0].type().bits() == 64 ? "_f64" : "_f32"), args,
                         ir::CallKind::PureExtern);
}

bool is_small(const Expr &x) {
    return x.type().is_float() && x.type().bits() == 16;
}

/// Evaluates a function of a constant; undefined if it is not implemented here.
Expr fold_math(const char *function, const Expr &x) {
    if (x->op != ir::Op::FloatImm)
        return Expr();
    std::string_view name = function;
    auto apply = [&](auto value) {
        if (name == "sqrt")
            return ir::make_float(x.type(), std::sqrt(value));
        if (name == "floor")
            return ir::make_float(x.type(), std::floor(value));
        if (name == "ceil")
            return ir::make_float(x.type(), std::ceil(value));
        if (name == "trunc")
            return ir::make_float(x.type(), std::trunc(value));
        return Expr();
    };
    return x.type().bits() == 32 ? apply(static_cast<float>(x->float_value))
                                 : apply(x->float_value);
}

/// For 16-bit floats, computes in float.
Expr unary_math(const char *function, const Expr &x) {
    Expr arg = as_float(function, x);
    if (is_small(arg))
        return cast(arg.type(), unary_math(function, cast(Float(32), arg)));
    if (Expr folded = fold_math(function, arg); folded.defined())
        return folded;
    return extern_call(function, arg.type(), {arg});
}

Expr binary_math(const char *function, const Expr &x, const Expr &y) {
    Expr a = as_float(function, x), b = as_float(function, y);
    language::match_types(function, a, b);
    if (is_small(a))
        return cast(a.type(), binary_math(function, cast(Float(32), a), cast(Float(32), b)));
    return extern_call(function, a.type(), {a, b});
}

/// p + c, where p is the product of two 16-bit floats and c is one, as doubles. The result need not
/// be exact, but must round to 16 bits as the exact sum does. p has at most 22 significant bits, so
/// it may lie halfway between two 16-bit floats: then a summand that is too small to change the
/// double still decides.
Expr roundable_sum(const Expr &p, const Expr &c) {
    constexpr double small = 0x1p-40;
    Expr grows = (c > 0) == (p > 0);
    return select(c != 0 && abs(c) < abs(p) * small, p * select(grows, 1 + small, 1 - small),
                  p + c);
}

/// Of floats of one type.
Expr fused(Expr a, Expr b, Expr c) {
    language::match_types("fma", a, b);
    language::match_types("fma", a, c);
    language::match_types("fma", a, b);
    if (!a.type().is_float())
        reject("fma", a, "it works on floats. Cast it first, as in cast<float>(x).");
    if (is_small(a))
        return cast(a.type(),
                    roundable_sum(cast(Float(64), a) * cast(Float(64), b), cast(Float(64), c)));
    return extern_call("fma", a.type(), {a, b, c});
}

Expr test_float(const char *function, const Expr &x) {
    Expr arg = as_float(function, x);
    if (is_small(arg))
        arg = cast(Float(32), arg);
    return extern_call(function, Bool(), {arg});
}

/// x to the power n >= 1 by repeated squaring.
Expr power(const Expr &x, int64_t n) {
    if (n == 1)
        return x;
    Expr half = power(x, n / 2);
    Expr square = half * half;
    return n % 2 ? square * x : square;
}

}  // namespace

Expr sqrt(const Expr &x) {
    return unary_math("sqrt", x);
}
Expr exp(const Expr &x) {
    return unary_math("exp", x);
}
Expr log(const Expr &x) {
    return unary_math("log", x);
}
Expr sin(const Expr &x) {
    return unary_math("sin", x);
}
Expr cos(const Expr &x) {
    return unary_math("cos", x);
}
Expr tan(const Expr &x) {
    return unary_math("tan", x);
}
Expr asin(const Expr &x) {
    return unary_math("asin", x);
}
Expr acos(const Expr &x) {
    return unary_math("acos", x);
}
Expr atan(const Expr &x) {
    return unary_math("atan", x);
}
Expr atan2(const Expr &y, const Expr &x) {
    return binary_math("atan2", y, x);
}
Expr sinh(const Expr &x) {
    return unary_math("sinh", x);
}
Expr cosh(const Expr &x) {
    return unary_math("cosh", x);
}
Expr tanh(const Expr &x) {
    return unary_math("tanh", x);
}
Expr asinh(const Expr &x) {
    return unary_math("asinh", x);
}
Expr acosh(const Expr &x) {
    return unary_math("acosh", x);
}
Expr atanh(const Expr &x) {
    return unary_math("atanh", x);
}
Expr fma(const Expr &a, const Expr &b, const Expr &c) {
    return fused(a, b, c);
}
Expr erf(const Expr &x) {
    return unary_math("erf", x);
}
Expr floor(const Expr &x) {
    return unary_math("floor", x);
}
Expr ceil(const Expr &x) {
    return unary_math("ceil", x);
}
Expr round(const Expr &x) {
    return unary_math("round", x);
}
Expr trunc(const Expr &x) {
    return unary_math("trunc", x);
}
Expr is_nan(const Expr &x) {
    return test_float("is_nan", x);
}
Expr is_inf(const Expr &x) {
    return test_float("is_inf", x);
}
Expr is_finite(const Expr &x) {
    return test_float("is_finite", x);
}

Expr hypot(const Expr &x, const Expr &y) {
    Expr a = as_float("hypot", x), b = as_float("hypot", y);
    if (is_small(a) && is_small(b))  // rounded once, at the end
        return cast(a.type(), hypot(cast(Float(32), a), cast(Float(32), b)));
    return sqrt(a * a + b * b);
}

Expr fract(const Expr &x) {
    Expr arg = as_float("fract", x);
    return arg - trunc(arg);
}

Expr pow(const Expr &x, const Expr &y) {
    require_defined("pow", x, y);
    constexpr int64_t largest_multiplied = 64;
    int64_t n = 0;
    if (!x.type().is_bool() && y.type().is_int_or_uint() && ir::as_const_int(y, &n) &&
        std::abs(n) <= largest_multiplied) {
        if (n == 0)
            return ir::make_const(x.type(), 1);
        if (is_small(x))  // rounded once, at the end
            return cast(x.type(), pow(cast(Float(32), x), y));
        if (n > 0)
            return power(x, n);
        if (x.type().is_float())
            return ir::make_const(x.type(), 1) / power(x, -n);
    }
    return binary_math("pow", x, y);
}

Expr abs(const Expr &x) {
    require_defined("abs", x);
    Type type = x.type();
    if (type.is_uint())
        return x;
    if (type.is_handle())
        reject("abs", x, "it is not a number. Cast it first, as in cast<int>(x).");
    int64_t value = 0;
    if (type.is_int() && ir::as_const_int(x, &value) && value > INT64_MIN)
        return ir::make_int(UInt(type.bits()), std::abs(value));
    return intrinsic_call(ir::intrinsic::abs,
                          type.is_int() ? type.with_code(Type::Code::UInt) : type, {x});
}

Expr absd(const Expr &a, const Expr &b) {
    Expr x = a, y = b;
    language::match_types("absd", x, y);
    Type type = x.type();
    if (type.is_float())
        return abs(x - y);
    if (type.is_bool())
        return x != y;
    if (type.is_handle())
        reject("absd", x, y, "it works on numbers. Cast them first.");
    return intrinsic_call(ir::intrinsic::absd, type.with_code(Type::Code::UInt), {x, y});
}

Expr likely(const Expr &x) {
    require_defined("likely", x);
    return intrinsic_call(ir::intrinsic::likely, x.type(), {x});
}

Expr likely_if_innermost(const Expr &x) {
    return likely(x);
}

Expr undef(Type type) {
    language::require_scalar("undef", type);
    return intrinsic_call(ir::intrinsic::undef, type, {});
}

Expr unsafe_promise_clamped(const Expr &x, const Expr &low, const Expr &high) {
    require_defined("unsafe_promise_clamped", x);
    if (!x.type().is_int_or_uint())
        reject("unsafe_promise_clamped", x, "it works on integers. Cast it first.");
    auto bound = [&](const Expr &b, int64_t otherwise) {
        return b.defined() ? cast(x.type(), b) : ir::make_const(x.type(), otherwise);
    };
    Type type = x.type();
    return intrinsic_call(
        ir::intrinsic::promise_clamped, type,
        {x, bound(low, type.min_int()), bound(high, static_cast<int64_t>(type.max_uint()))});
}

Expr promise_clamped(const Expr &x, const Expr &low, const Expr &high) {
    return unsafe_promise_clamped(x, low, high);
}

Expr strict_float(const Expr &x) {
    require_defined("strict_float", x);
    return intrinsic_call(ir::intrinsic::strict_float, x.type(), {x});
}

}  // namespace Pipe
