#include <pipe/fast_math.h>

#include <initializer_list>
#include <numbers>

#include "language/match.h"

namespace Pipe {
namespace {

void require_float(const char *name, const Expr &x) {
    language::require_defined(name, x);
    if (x.type() != Float(32))
        language::reject(name, x, "it works on float32. Cast it first.");
}

/// c0 + c1 x + c2 x^2 + ...
Expr polynomial(const Expr &x, std::initializer_list<float> coefficients) {
    Expr sum;
    for (auto c = std::rbegin(coefficients); c != std::rend(coefficients); ++c)
        sum = sum.defined() ? sum * x + *c : Expr(*c);
    return sum;
}

Expr estimate(const char *name, const Expr &x) {
    require_float(name, x);
    return ir::make_call(Float(32), std::string(name) + "_f32", {x}, ir::CallKind::PureExtern);
}

/// sin(x - turns pi), negated where k is odd, for |x - turns pi| <= pi / 2. All polynomials here
/// interpolate at Chebyshev nodes.
Expr reduced_sine(const Expr &x, const Expr &turns, const Expr &k) {
    // pi in two parts, so that subtracting the turns is almost exact.
    constexpr float high = 3.140625f;
    constexpr auto low = static_cast<float>(std::numbers::pi - 3.140625);
    Expr r = (x - turns * high) - turns * low;
    Expr sine = r * polynomial(r * r, {0.99999999571f, -0.16666657969f, 0.00833305062f,
                                       -0.00019809046f, 0.0000026051663f});
    return select(cast(Int(32), k) % 2 == 0, sine, -sine);
}

constexpr auto inverse_pi = static_cast<float>(std::numbers::inv_pi);

}  // namespace

/// x = m 2^e with m near 1: log(x) = log(1 + (m - 1)) + e log(2).
Expr fast_log(const Expr &x) {
    require_float("fast_log", x);
    constexpr int32_t sqrt_half = 0x3f3504f3;  // its bits
    Expr bits = reinterpret(Int(32), x);
    Expr exponent = (bits - sqrt_half) >> 23;
    Expr t = reinterpret(Float(32), bits - (exponent << 23)) - 1.0f;
    Expr log_m = t * polynomial(t, {0.99999997427f, -0.49999987032f, 0.33334183339f,
                                    -0.25002153461f, 0.19956977483f, -0.16560695992f,
                                    0.14949095475f, -0.14377330566f, 0.08743945352f});
    return log_m + cast(Float(32), exponent) * std::numbers::ln2_v<float>;
}

/// exp(x) = 2^k exp(x - k log(2)).
Expr fast_exp(const Expr &x) {
    require_float("fast_exp", x);
    Expr k = round(x * std::numbers::log2e_v<float>);
    // log(2) in two parts, the first with few bits.
    constexpr float high = 0.693359375f;
    constexpr auto low = static_cast<float>(std::numbers::ln2 - 0.693359375);
    Expr r = (x - k * high) - k * low;
    Expr power = polynomial(r, {1.0000000755f, 1.0000000377f, 0.49998869109f, 0.1666641548f,
                                0.0419175297f, 0.0083751289f});
    Expr exponent = clamp(cast(Int(32), k), -127, 128) + 127;
    return power * reinterpret(Float(32), exponent << 23);
}

Expr fast_pow(const Expr &base, const Expr &exponent) {
    language::require_defined("fast_pow", base);
    language::require_defined("fast_pow", exponent);
    if (exponent.type().is_int_or_uint() && ir::as_const_int(exponent, nullptr))
        return pow(base, exponent);  // a few products
    const Expr x = cast(Float(32), base), y = cast(Float(32), exponent);
    return select(x == 0.0f, select(y == 0.0f, 1.0f, 0.0f), fast_exp(fast_log(x) * y));
}

Expr fast_sin(const Expr &x) {
    require_float("fast_sin", x);
    Expr k = round(x * inverse_pi);
    return reduced_sine(x, k, k);
}

/// cos(x) = sin(x + pi / 2), half a turn later.
Expr fast_cos(const Expr &x) {
    require_float("fast_cos", x);
    Expr k = round(x * inverse_pi + 0.5f);
    return reduced_sine(x, k - 0.5f, k);
}

Expr fast_inverse(const Expr &x) {
    return estimate("fast_inverse", x);
}
Expr fast_inverse_sqrt(const Expr &x) {
    return estimate("fast_inverse_sqrt", x);
}

}  // namespace Pipe
