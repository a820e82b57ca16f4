#include "fuzz/value.h"

#include <algorithm>
#include <cmath>

namespace Pipe::fuzz {
namespace {

double largest(Type type) {
    return type.is_uint() ? static_cast<double>(type.max_uint())
                          : -static_cast<double>(type.min_int());
}

bool wraps(Type type) {
    return type.is_uint() || type.bits() < 32;
}

/// Whether the value may stand as it is.
bool fits(Type type, double size, int frac) {
    if (type.is_float())
        return size * std::ldexp(1.0, frac) < 8388608.0;
    return wraps(type) || size < 1e9;
}

Value make(Expr e, std::string text, double size, int frac = 0, double error = 0) {
    if (e.type().is_int_or_uint() && wraps(e.type()))
        size = std::min(size, largest(e.type()));
    return {std::move(e), std::move(text), size, frac, error};
}

/// What one operation may add, relative to its result: math libraries promise 4 ulp.
constexpr double rounding = 1e-6;

double sum_error(const Value &a, const Value &b) {
    if (!a.rough() && !b.rough())
        return 0;
    return a.error + b.error + rounding * (a.size + b.size);
}

std::string call(const std::string &name, const Value &a) {
    return name + "(" + a.text + ")";
}
std::string call(const std::string &name, const Value &a, const Value &b) {
    return name + "(" + a.text + ", " + b.text + ")";
}
std::string infix(const Value &a, const char *op, const Value &b) {
    return "(" + a.text + " " + op + " " + b.text + ")";
}

}  // namespace

std::string short_name(Type type) {
    const char *kind = type.is_bfloat() ? "bf" : type.is_float() ? "f" : type.is_int() ? "i" : "u";
    return kind + std::to_string(type.bits());
}

Value constant(Type type, int value) {
    std::string text = std::to_string(value);
    if (type != Int(32))
        text = short_name(type) + "(" + text + ")";
    return make(cast(type, Expr(value)), text, std::abs(value));
}

Value fraction(int numerator, int log2_denominator) {
    double value = std::ldexp(numerator, -log2_denominator);
    return make(Expr(static_cast<float>(value)), "f32(" + std::to_string(value) + ")",
                std::fabs(value), log2_denominator);
}

Value shrink(const Value &v, Choices &choices) {
    Type type = v.type();
    if (type.is_float()) {
        Value low = constant(type, -1000), high = constant(type, 1000);
        Value w = make(clamp(v.e, low.e, high.e),
                       "clamp(" + v.text + ", " + low.text + ", " + high.text + ")", 1000, v.frac,
                       v.error);
        if (v.frac && !v.error)
            w = make(floor(w.e), call("floor", w), 1000);
        return w;
    }
    int m = type.bits() == 8 ? 100 : choices.of<int>({1000, 255, 64, 7});
    Value limit = constant(type, m);
    switch (choices.below(type.is_int() ? 3 : 2)) {
    case 0:
        return make(v.e % limit.e, infix(v, "%", limit), m);
    case 1: {
        Value mask = constant(type, type.bits() == 8 ? 63 : 1023);
        return make(v.e & mask.e, infix(v, "&", mask), mask.size);
    }
    default: {
        Value low = constant(type, -m);
        return make(clamp(v.e, low.e, limit.e),
                    "clamp(" + v.text + ", " + low.text + ", " + limit.text + ")", m);
    }
    }
}

Value convert(const Value &v, Type type, Choices &choices) {
    if (v.type() == type)
        return v;
    Value from = v;
    if (type.is_float()) {
        if (from.size >= 4194304)
            from = shrink(from, choices);
    } else if (v.type().is_float()) {
        from = shrink(from, choices);  // |v| <= 1000: inside int32
        from = make(cast<int32_t>(from.e), call("i32", from), 1000);
        return convert(from, type, choices);
    } else if (!fits(type, from.size, 0)) {
        from = shrink(from, choices);
    }
    // Of a negative number an unsigned type may make its largest values.
    double size = type.is_uint() ? largest(type) : from.size;
    return make(cast(type, from.e), call(short_name(type), from), size, from.frac, from.error);
}

Value add(const Value &a, const Value &b, Choices &choices) {
    if (!a.rough() && !b.rough() && !fits(a.type(), a.size + b.size, std::max(a.frac, b.frac)))
        return add(shrink(a, choices), shrink(b, choices), choices);
    return make(a.e + b.e, infix(a, "+", b), a.size + b.size, std::max(a.frac, b.frac),
                sum_error(a, b));
}

namespace {

Value multiply(Value a, Value b, Choices &choices) {
    bool rough = a.rough() || b.rough();
    if (rough || !fits(a.type(), a.size * b.size, a.frac + b.frac))
        a = shrink(a, choices);
    if (rough || !fits(a.type(), a.size * b.size, a.frac + b.frac))
        b = shrink(b, choices);
    return make(a.e * b.e, infix(a, "*", b), a.size * b.size, a.frac + b.frac,
                rough ? a.error * b.size + b.error * a.size + rounding * a.size * b.size : 0);
}

/// min, max, -: no larger than a + b.
Value simple(const Value &a, const Value &b, int which, Choices &choices) {
    int frac = std::max(a.frac, b.frac);
    double larger = std::max(a.size, b.size), error = std::max(a.error, b.error);
    switch (which) {
    case 0:
        return make(min(a.e, b.e), call("min", a, b), larger, frac, error);
    case 1:
        return make(max(a.e, b.e), call("max", a, b), larger, frac, error);
    default:
        if (error == 0 && !fits(a.type(), a.size + b.size, frac))
            return simple(shrink(a, choices), shrink(b, choices), which, choices);
        return make(a.e - b.e, infix(a, "-", b),
                    a.type().is_uint() ? largest(a.type()) : a.size + b.size, frac,
                    sum_error(a, b));
    }
}

Value combine_integers(const Value &a, const Value &b, int which) {
    Type type = a.type();
    double full = largest(type);
    double bits = std::min(full, std::exp2(std::ceil(std::log2(std::max(a.size, b.size) + 2))));
    switch (which) {
    case 0:
        return make(a.e / b.e, infix(a, "/", b), a.size + 1);
    case 1:
        return make(a.e % b.e, infix(a, "%", b), type.is_uint() ? a.size : b.size);
    case 2:
        return make(a.e & b.e, infix(a, "&", b), bits);
    case 3:
        return make(a.e | b.e, infix(a, "|", b), bits);
    case 4:
        return make(a.e ^ b.e, infix(a, "^", b), bits);
    case 5: {
        Value difference = make(absd(a.e, b.e), call("absd", a, b), a.size + b.size);
        return make(cast(type, difference.e), call(short_name(type), difference),
                    std::min(full, a.size + b.size));
    }
    default: {
        int n = 1 + static_cast<int>(b.size) % 4;
        Value amount = constant(type, n);
        return make(a.e >> amount.e, infix(a, ">>", amount), a.size);
    }
    }
}

std::string call(const std::string &name, const Value &a, const Value &b, const Value &c) {
    return name + "(" + a.text + ", " + b.text + ", " + c.text + ")";
}

/// Saturating, halving, rounding.
Value combine_fixed_point(const Value &a, const Value &b, Choices &choices) {
    Type type = a.type();
    double full = largest(type);
    double sum = std::min(full, a.size + b.size), larger = std::max(a.size, b.size);
    Value few = constant(UInt(type.bits()), choices.between(1, type.bits() - 1));
    int which = choices.below(11);
    if (type.bits() == 64 && which == 8)
        which = 9;  // lerp needs a wider type
    switch (which) {
    case 0:
        return make(saturating_add(a.e, b.e), call("saturating_add", a, b), sum);
    case 1:
        return make(saturating_sub(a.e, b.e), call("saturating_sub", a, b), sum);
    case 2:
        return make(halving_add(a.e, b.e), call("halving_add", a, b), larger + 1);
    case 3:
        return make(rounding_halving_add(a.e, b.e), call("rounding_halving_add", a, b), larger + 1);
    case 4:
        return make(halving_sub(a.e, b.e), call("halving_sub", a, b),
                    type.is_uint() ? full : larger + 1);
    case 5:
        return make(rounding_shift_right(a.e, few.e), call("rounding_shift_right", a, few),
                    a.size + 1);
    case 6:
        return make(mul_shift_right(a.e, b.e, few.e), call("mul_shift_right", a, b, few), full);
    case 7:
        return make(rounding_mul_shift_right(a.e, b.e, few.e),
                    call("rounding_mul_shift_right", a, b, few), full);
    case 8: {
        Value weight = constant(UInt(8), choices.between(0, 255));
        return make(lerp(a.e, b.e, weight.e), call("lerp", a, b, weight), larger);
    }
    case 9:
        return make(div_round_to_zero(a.e, b.e), call("div_round_to_zero", a, b),
                    type.is_int() ? a.size + 1 : a.size);
    default:
        return make(mod_round_to_zero(a.e, b.e), call("mod_round_to_zero", a, b), a.size);
    }
}

}  // namespace

Value combine(const Value &a, const Value &b, Choices &choices) {
    int which = choices.below(a.type().is_float() ? 5 : 18);
    if (which >= 14)
        return combine_fixed_point(a, b, choices);
    if (which <= 1)
        return add(a, b, choices);
    if (which == 2)
        return multiply(a, b, choices);
    if (which <= 5 - a.type().is_float())
        return simple(a, b, which - 3, choices);
    if (a.type().is_float())
        return simple(a, b, 2, choices);
    return combine_integers(a, b, (which - 6) % 7);
}

namespace {

/// Of a float32 that is at most about a thousand: an operation on 16-bit floats, which rounds once, as a
/// whole number. What is computed as float on the way is exact, so contraction to FMA cannot be seen.
Value through_16_bits(const Value &a, Choices &choices) {
    const Type type = choices.chance(50) ? Float(16) : BFloat(16);
    auto small = [&](const Value &v) {
        return make(cast(type, v.e), call(short_name(type), v), v.size);
    };
    const Value x = small(a), y = small(fraction(choices.between(1, 31), 3)),
                w = small(fraction(choices.between(0, 8), 3));
    Value result;
    switch (choices.below(6)) {
    case 0:
        result = make(x.e + y.e, infix(x, "+", y), a.size + 4);
        break;
    case 1:
        result = make(x.e * y.e, infix(x, "*", y), a.size * 4);
        break;
    case 2:
        result = make(x.e / y.e, infix(x, "/", y), a.size * 8);
        break;
    case 3:
        result = make(x.e % y.e, infix(x, "%", y), 8);
        break;
    case 4:
        result = make(fma(x.e, y.e, x.e), call("fma", x, y, x), a.size * 5);
        break;
    default:
        result = make(lerp(x.e, y.e, w.e), call("lerp", x, y, w), a.size + 4);
        break;
    }
    Value whole = make(floor(result.e), call("floor", result), result.size);
    // Rounding may have made it larger by one part in 256.
    return make(cast<float>(whole.e), call("f32", whole), result.size * 1.01 + 1);
}

}  // namespace

Value modify(const Value &a, Choices &choices, bool may_be_rough) {
    Type type = a.type();
    if (!type.is_float()) {
        switch (choices.below(6)) {
        case 0:
            return a;
        case 1:
            return shrink(a, choices);
        case 4:
            return make(popcount(a.e), call("popcount", a), type.bits());
        case 5:
            return make(count_leading_zeros(a.e), call("count_leading_zeros", a), type.bits());
        case 2: {
            Value positive = make(abs(a.e), call("abs", a), a.size);
            return make(cast(type, positive.e), call(short_name(type), positive), a.size);
        }
        default: {
            Value amount = constant(type, 1 + choices.below(3));
            double size = a.size * std::exp2(amount.size);
            if (!fits(type, size, 0))
                return shrink(a, choices);
            return make(a.e << amount.e, infix(a, "<<", amount), size);
        }
        }
    }
    Value small = a.size > 1000 ? shrink(a, choices) : a;
    if (type == Float(32) && !small.rough() && choices.chance(20))
        return through_16_bits(small, choices);
    switch (choices.below(may_be_rough ? 7 : 4)) {
    case 0:
        return a;
    case 1:
        return make(abs(a.e), call("abs", a), a.size, a.frac, a.error);
    case 2:
        return a.rough() ? a : make(floor(a.e), call("floor", a), a.size);
    case 3:
        return multiply(small, fraction(choices.between(1, 7), 2), choices);
    case 4:
        return make(small.e / Expr(3.0f), "(" + small.text + " / 3.0f)", small.size, 0,
                    small.error + rounding * small.size);
    case 5: {
        Value positive =
            make(abs(small.e), call("abs", small), small.size, small.frac, small.error);
        return make(sqrt(positive.e + 1.0f), "sqrt(" + positive.text + " + 1.0f)", 40, 0,
                    small.error + rounding * 40);
    }
    default:
        return make(exp(small.e * -0.001f), "exp(" + small.text + " * -0.001f)", 3, 0,
                    small.error + rounding * 3);
    }
}

Value condition(const Value &a, const Value &b, Choices &choices) {
    switch (choices.below(5)) {
    case 0:
        return make(a.e < b.e, infix(a, "<", b), 1);
    case 4: {
        Value less = make(a.e < b.e, infix(a, "<", b), 1),
              equal = make(a.e == b.e, infix(a, "==", b), 1);
        return make(absd(less.e, equal.e), call("absd", less, equal), 1);
    }
    case 1:
        return make(a.e >= b.e, infix(a, ">=", b), 1);
    case 2:
        return make(a.e == b.e, infix(a, "==", b), 1);
    default:
        return make(a.e != b.e, infix(a, "!=", b), 1);
    }
}

Value choose(const Value &c, const Value &t, const Value &f) {
    return make(select(c.e, t.e, f.e), "select(" + c.text + ", " + t.text + ", " + f.text + ")",
                std::max(t.size, f.size), std::max(t.frac, f.frac), std::max(t.error, f.error));
}

}  // namespace Pipe::fuzz
