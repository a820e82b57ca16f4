// Floats of 16 bits, tests of floats, maths, approximations.
#include <bit>
#include <cmath>
#include <limits>

#include "support/everywhere.h"
#include "support/require_message.h"

using namespace Pipe;

namespace {

/// The nearest number of the format by search: of all that there are, halves to even.
template <typename F> uint16_t nearest(double value) {
    if (std::isnan(value))
        return F::make_nan().to_bits();
    auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
    double size = std::fabs(value);
    uint16_t low = 0, high = F::make_infinity().to_bits();
    while (high - low > 1) {  // low <= size < high
        auto middle = static_cast<uint16_t>((low + high) / 2);
        (static_cast<double>(F::make_from_bits(middle)) <= size ? low : high) = middle;
    }
    double below = static_cast<double>(F::make_from_bits(low)), above = 2 * below;
    if (high == F::make_infinity().to_bits())  // as if the format went on
        above = below + (below - static_cast<double>(F::make_from_bits(low - 1)));
    else
        above = static_cast<double>(F::make_from_bits(high));
    if (std::isinf(size))
        return sign | high;
    double middle = below + (above - below) / 2;
    bool up = size > middle || (size == middle && (low & 1));
    return static_cast<uint16_t>(sign | (up ? high : low));
}

/// Numbers where rounding is hard: at, next to and between all kinds of halves.
std::vector<double> hard_numbers() {
    std::vector<double> values{
        0.0,   -0.0,   1e-50,    65504, 65519.99,
        65520, 3.4e38, 3.395e38, 1e300, std::numeric_limits<double>::infinity()};
    for (double base : {1.0, 1.5, 1000.0, 0x1p-14, 0x1p-20, 0x1p-24, 0x1p-25, 0x1p-126, 0x1p-133,
                        0x1p-134, 0x1p100})
        for (int i = 0; i < 9; i++)
            for (double step : {0x1p-8, 0x1p-9, 0x1p-11, 0x1p-12})
                for (double nudge : {0.0, 0x1p-40, -0x1p-40})
                    values.push_back(base * (1 + i * step + nudge));
    size_t n = values.size();
    for (size_t i = 0; i < n; i++)
        values.push_back(-values[i]);
    return values;
}

const std::vector<Target> targets() {
    Target host = get_host_target();
    return {host, host.without_feature(Target::F16C)};
}

/// cast<F>(T) of the values, compiled for each target, in vectors and not, and by the reference.
template <typename F, typename T> void check_cast(const std::vector<T> &values) {
    auto n = static_cast<int>(values.size());
    Buffer<T> in(n);
    for (int i = 0; i < n; i++)
        in(i) = values[static_cast<size_t>(i)];
    for (const Target &target : targets())
        for (int lanes : {0, 1, 4, 7, 16}) {
            Var x("x");
            Func f("f");
            f(x) = cast<F>(in(x));
            if (lanes > 1)
                f.vectorize(x, lanes, TailStrategy::GuardWithIf);
            Buffer<F> out(n);
            if (lanes == 0)
                f.realize_reference(Realization(out));
            else
                f.realize(out, target);
            int wrong = 0;
            double first = 0;
            for (int i = 0; i < n; i++)
                if (out(i).to_bits() != nearest<F>(static_cast<double>(in(i))) && wrong++ == 0)
                    first = static_cast<double>(in(i));
            INFO(to_string(type_of<T>()) << " to " << to_string(type_of<F>()) << ", lanes " << lanes
                                         << ", " << target.to_string() << ": " << first);
            CHECK(wrong == 0);
        }
}

template <typename F> void check_format() {
    std::vector<double> numbers = hard_numbers();
    for (double v : numbers)
        CHECK(F(v).to_bits() == nearest<F>(v));
    check_cast<F, double>(numbers);
    check_cast<F, float>(std::vector<float>(numbers.begin(), numbers.end()));
    std::vector<int16_t> shorts;
    for (int i = -32768; i < 32768; i += 7)
        shorts.push_back(static_cast<int16_t>(i));
    check_cast<F, int16_t>(shorts);
    check_cast<F, int32_t>({0, 1, -1, 2049, 2051, 65519, 65520, 16777217, -33685505, INT32_MAX});
    check_cast<F, uint32_t>({0, 257, 2049, 65519, 0x01010001u, 0x80800001u, 0xffffffffu});
    // All numbers, to float and back.
    Buffer<F> all(65536);
    for (int i = 0; i < 65536; i++)
        all(i) = F::make_from_bits(static_cast<uint16_t>(i));
    for (const Target &target : targets()) {
        Var x("x");
        Func f("f"), g("g");
        f(x) = cast<float>(all(x));
        g(x) = cast<F>(cast<double>(all(x)));
        f.vectorize(x, 8), g.vectorize(x, 8);
        Buffer<float> wide(65536);
        Buffer<F> back(65536);
        f.realize(wide, target), g.realize(back, target);
        int wrong = 0;
        for (int i = 0; i < 65536; i++) {
            auto want = static_cast<float>(all(i));
            bool same = std::isnan(want)
                            ? std::isnan(wide(i)) && back(i).is_nan()
                            : std::bit_cast<uint32_t>(wide(i)) == std::bit_cast<uint32_t>(want) &&
                                  back(i).to_bits() == all(i).to_bits();
            wrong += !same;
        }
        CHECK(wrong == 0);
    }
}

}  // namespace

TEST_CASE("float16_t and casts to it round once", "[float16]") {
    check_format<float16_t>();
}

TEST_CASE("bfloat16_t and casts to it round once", "[float16]") {
    check_format<bfloat16_t>();
}

TEST_CASE("int64 to bfloat16 rounds once, where a double cannot hold the number", "[float16]") {
    // A half of the last place, and a little more or less.
    const int64_t half = (int64_t{1} << 62) + (int64_t{1} << 54);
    Buffer<int64_t> in(4);
    in(0) = half, in(1) = half + 1, in(2) = half - 1, in(3) = -half - 1;
    const uint16_t up = bfloat16_t(0x1.02p62).to_bits(), down = bfloat16_t(0x1p62).to_bits();
    for (bool reference : {false, true}) {
        Var x("x");
        Func f("f");
        f(x) = cast<bfloat16_t>(in(x));
        Buffer<bfloat16_t> out(4);
        if (reference)
            f.realize_reference(Realization(out));
        else
            f.vectorize(x, 4).realize(out);
        CHECK(out(0).to_bits() == down);
        CHECK(out(1).to_bits() == up);
        CHECK(out(2).to_bits() == down);
        CHECK(out(3).to_bits() == (up | 0x8000));
    }
    Var x("x");
    Func constants("constants");
    constants(x) = mux(x, {cast<bfloat16_t>(Expr(half)), cast<bfloat16_t>(Expr(half + 1)),
                           cast<bfloat16_t>(Expr(half - 1)), cast<bfloat16_t>(Expr(-half - 1))});
    Buffer<bfloat16_t> out = constants.realize({4});
    CHECK(out(0).to_bits() == down);
    CHECK(out(1).to_bits() == up);
    CHECK(out(2).to_bits() == down);
    CHECK(out(3).to_bits() == (up | 0x8000));
}

/// Each has as many bits as the other, but not its numbers.
template <typename F, typename Other> static void check_there_and_back() {
    Buffer<F> all(65536);
    for (int i = 0; i < 65536; i++)
        all(i) = F::make_from_bits(static_cast<uint16_t>(i));
    Var x("x");
    Func f("f");
    f(x) = cast<F>(cast<Other>(all(x)));
    f.vectorize(x, 8);
    Buffer<F> back = f.realize({65536});
    int wrong = 0;
    for (int i = 0; i < 65536; i++) {
        F want(static_cast<float>(Other(static_cast<float>(all(i)))));
        wrong += want.is_nan() ? !back(i).is_nan() : back(i).to_bits() != want.to_bits();
    }
    CHECK(wrong == 0);
}

TEST_CASE("a cast to the other format of 16 bits and back rounds", "[float16]") {
    check_there_and_back<float16_t, bfloat16_t>();
    check_there_and_back<bfloat16_t, float16_t>();
}

template <typename F> static void check_arithmetic() {
    Var x("x"), y("y");
    auto value = [](int i) { return F(static_cast<float>(i) * 0.37f + 0.1f); };
    auto load = [](Expr i) { return cast<F>(cast<float>(i) * 0.37f + 0.1f); };
    auto close = [](F a, F b) { return a.to_bits() == b.to_bits(); };
    struct Op {
        Expr (*expr)(Expr, Expr);
        F (*number)(F, F);
    };
    const Op ops[] = {
        {[](Expr a, Expr b) { return a + b; }, [](F a, F b) { return a + b; }},
        {[](Expr a, Expr b) { return a - b; }, [](F a, F b) { return a - b; }},
        {[](Expr a, Expr b) { return a * b; }, [](F a, F b) { return a * b; }},
        {[](Expr a, Expr b) { return a / b; }, [](F a, F b) { return a / b; }},
        {[](Expr a, Expr b) { return min(a, b); }, [](F a, F b) { return a < b ? a : b; }},
        {[](Expr a, Expr b) { return select(a >= b, a, -b); },
         [](F a, F b) { return a >= b ? a : F(0.0f) - b; }},
        {[](Expr a, Expr b) { return cast(a.type(), sqrt(abs(a))) + b * 2; },
         [](F a, F b) { return F(std::sqrt(std::fabs(static_cast<float>(a)))) + b * F(2.0f); }},
    };
    for (const Op &op : ops)
        everywhere::check<F>(
            [&] {
                Func f("f");
                f(x, y) = op.expr(load(x), load(y));
                return f;
            },
            [&](int i, int j) { return op.number(value(i), value(j)); },
            [&](F a, F b) { return close(a, b); });
}

TEST_CASE("arithmetic of 16-bit floats rounds each result", "[float16]") {
    check_arithmetic<float16_t>();
    check_arithmetic<bfloat16_t>();
}

TEST_CASE("16-bit floats as constants, Params, images and types", "[float16]") {
    Var x("x");
    Param<float16_t> p("p");
    p.set(float16_t(1.5f));
    ImageParam image(Float(16), 1, "image");
    Buffer<float16_t> in(5);
    in.fill(float16_t(2.0f));
    image.set(in);
    Func f("f");
    f(x) = image(x) * p + float16_t(0.25f) + 1;
    CHECK(f.type() == Float(16));
    Buffer<float16_t> out = f.realize({5});
    CHECK(out(4) == float16_t(4.25f));
    CHECK(type_of<bfloat16_t>() == BFloat(16));
    CHECK(to_string(BFloat(16)) == "bfloat16");
    // As in Halide: of two types of the same width the second.
    CHECK((cast<float16_t>(x) + cast<bfloat16_t>(x)).type() == BFloat(16));
    CHECK((cast<bfloat16_t>(x) + cast<float16_t>(x)).type() == Float(16));
    CHECK((cast<float16_t>(x) + 1.0f).type() == Float(32));
    CHECK(float16_t(1.0f) < float16_t(2.0f));
    CHECK(float16_t::make_nan().is_nan());
    CHECK_FALSE(float16_t::make_nan() == float16_t::make_nan());
    CHECK(float16_t::make_infinity(false).is_negative());
    CHECK(float16_t::make_zero().is_zero());
    CHECK(bfloat16_t(3.0f).to_bits() == 0x4040);
    CHECK(static_cast<int>(float16_t(7)) == 7);
    using namespace ConciseCasts;
    CHECK(f16(x).type() == Float(16));
    CHECK(bf16(x).type() == BFloat(16));
    Func h("h"), b("b");
    h(x) = cast<float>(f16(x / 3.0f));
    b(x) = cast<float>(bf16(x / 3.0f));
    Buffer<float> halves = h.realize({33}), brains = b.realize({33});
    for (int i = 0; i < 33; i++) {
        CHECK(halves(i) == static_cast<float>(float16_t(static_cast<float>(i) / 3.0f)));
        CHECK(brains(i) == static_cast<float>(bfloat16_t(static_cast<float>(i) / 3.0f)));
    }
}

TEST_CASE("a sum of 16-bit floats", "[float16]") {
    Var x("x"), y("y");
    RDom r(0, 6, "r");
    everywhere::check<float16_t>(
        [&] {
            Func f("f");
            f(x, y) = sum(cast<float16_t>(r * 0.1f) + cast<float16_t>(x));
            return f;
        },
        [](int x, int) {
            float16_t sum;
            for (int i = 0; i < 6; i++)
                sum += float16_t(static_cast<float>(i) * 0.1f) + float16_t(x);
            return sum;
        });
}

TEST_CASE("tests of floats", "[floats]") {
    const float values[] = {0.0f, -1.0f, INFINITY, -INFINITY, NAN, 1e38f};
    Buffer<float> in(6);
    for (int i = 0; i < 6; i++)
        in(i) = values[i];
    Var x("x"), y("y");
    auto make = [&](Expr (*test)(const Expr &)) {
        return [&in, x, y, test] {
            Func f("f");
            f(x, y) = cast<int>(test(in(clamp(x, 0, 5))));
            return f;
        };
    };
    auto at = [&](int x) { return values[std::clamp(x, 0, 5)]; };
    everywhere::check<int>(make(is_nan), [&](int x, int) { return std::isnan(at(x)); });
    everywhere::check<int>(make(is_inf), [&](int x, int) { return std::isinf(at(x)); });
    everywhere::check<int>(make(is_finite), [&](int x, int) { return std::isfinite(at(x)); });
}

TEST_CASE("maths", "[floats]") {
    struct Function {
        const char *name;
        Expr (*expr)(const Expr &);
        double (*number)(double);
        double low, high;
    };
    const Function functions[] = {
        {"sin", sin, std::sin, -6, 6},       {"cos", cos, std::cos, -6, 6},
        {"tan", tan, std::tan, -1.2, 1.2},   {"asin", asin, std::asin, -1, 1},
        {"acos", acos, std::acos, -1, 1},    {"atan", atan, std::atan, -9, 9},
        {"sinh", sinh, std::sinh, -5, 5},    {"cosh", cosh, std::cosh, -5, 5},
        {"tanh", tanh, std::tanh, -5, 5},    {"asinh", asinh, std::asinh, -9, 9},
        {"acosh", acosh, std::acosh, 1, 9},  {"atanh", atanh, std::atanh, -0.9, 0.9},
        {"floor", floor, std::floor, -9, 9}, {"ceil", ceil, std::ceil, -9, 9},
        {"trunc", trunc, std::trunc, -9, 9}, {"round", round, std::nearbyint, -9, 9},
        {"sqrt", sqrt, std::sqrt, 0, 99},    {"exp", exp, std::exp, -20, 20},
        {"log", log, std::log, 0.01, 99},    {"erf", erf, std::erf, -3, 3},
    };
    Var x("x"), y("y");
    for (const Function &f : functions) {
        INFO(f.name);
        auto argument = [&](int x, int y) {
            double t = ((x * 7 + y * 3) % 101 + 101) % 101 / 101.0;
            return static_cast<float>(f.low + t * (f.high - f.low));
        };
        Buffer<float> in(60, 12);
        auto make = [&] {
            Func g("g");
            Expr t = ((x * 7 + y * 3) % 101) / cast<double>(101);
            g(x, y) = f.expr(cast<float>(f.low + t * (f.high - f.low)));
            return g;
        };
        everywhere::check<float>(
            make,
            [&](int x, int y) {
                return static_cast<float>(f.number(static_cast<double>(argument(x, y))));
            },
            [](float a, float b) { return std::fabs(a - b) <= 2e-6f * (1 + std::fabs(b)); });
    }
}

TEST_CASE("maths of two arguments, and fract", "[floats]") {
    Var x("x"), y("y");
    auto near = [](float a, float b) { return std::fabs(a - b) <= 2e-6f * (1 + std::fabs(b)); };
    auto check = [&](Expr (*expr)(const Expr &, const Expr &), double (*number)(double, double)) {
        everywhere::check<float>(
            [&] {
                Func f("f");
                f(x, y) = expr(abs(x) * 0.125f + 0.5f, y * 0.25f);
                return f;
            },
            [&](int x, int y) {
                return static_cast<float>(number(std::abs(x) * 0.125 + 0.5, y * 0.25));
            },
            near);
    };
    check(atan2, std::atan2);
    check(pow, std::pow);
    check(hypot, std::hypot);
    everywhere::check<float>(
        [&] {
            Func f("f");
            f(x, y) = fract(x * 0.3f - y * 0.7f);
            return f;
        },
        [](int x, int y) {
            float v = static_cast<float>(x) * 0.3f - static_cast<float>(y) * 0.7f;
            return v - std::trunc(v);
        },
        [](float a, float b) { return std::fabs(a - b) < 1e-5f; });
}

TEST_CASE("approximations keep their promise", "[floats]") {
    struct Function {
        const char *name;
        Expr (*expr)(const Expr &);
        double (*number)(double);
        double low, high, relative, absolute;
    };
    const Function functions[] = {
        {"fast_log", fast_log, std::log, 1e-30, 1e30, 0x1p-18, 1e-7},
        {"fast_log near 1", fast_log, std::log, 0.5, 2, 0x1p-18, 1e-7},
        {"fast_exp", fast_exp, std::exp, -80, 80, 0x1p-18, 0},
        {"fast_sin", fast_sin, std::sin, -100, 100, 0, 1e-5},
        {"fast_cos", fast_cos, std::cos, -100, 100, 0, 1e-5},
        {"fast_inverse", fast_inverse, [](double v) { return 1 / v; }, 0.001, 1000, 0x1p-11, 0},
        {"fast_inverse_sqrt", fast_inverse_sqrt, [](double v) { return 1 / std::sqrt(v); }, 0.001,
         1000, 0x1p-11, 0},
    };
    const int n = 20011;
    const std::pair<int, int> places[] = {{0, n}, {11, 1}, {5, 7}};  // left, count
    for (const Function &f : functions)
        for (int lanes : {0, 1, 4, 8, 13}) {
            Buffer<float> in(n);
            for (int i = 0; i < n; i++)
                in(i) =
                    static_cast<float>(f.low > 0 ? f.low * std::pow(f.high / f.low, i / (n - 1.0))
                                                 : f.low + (f.high - f.low) * i / (n - 1.0));
            Var x("x");
            Func g("g");
            g(x) = f.expr(in(x));
            if (lanes > 1)
                g.vectorize(x, lanes, TailStrategy::GuardWithIf);
            for (auto [left, count] : places) {
                Buffer<float> out(count);
                out.set_min(left);
                if (lanes == 0)
                    g.realize_reference(Realization(out));
                else
                    g.realize(out);
                int wrong = 0;
                out.for_each_element([&](int i) {
                    double want = f.number(static_cast<double>(in(i)));
                    double allowed = f.relative * std::fabs(want) + f.absolute;
                    wrong += !(std::fabs(out(i) - want) <= allowed);
                });
                INFO(f.name << ", lanes " << lanes << ", " << count << " from " << left);
                CHECK(wrong == 0);
            }
        }
}

TEST_CASE("fast_pow", "[floats]") {
    Var x("x"), y("y");
    everywhere::check<float>(
        [&] {
            Func f("f");
            f(x, y) = fast_pow(abs(x) * 0.1f, y * 0.3f + 2.5f);
            return f;
        },
        [](int x, int y) { return static_cast<float>(std::pow(std::abs(x) * 0.1, y * 0.3 + 2.5)); },
        [](float a, float b) { return std::fabs(a - b) <= 2e-5f * std::fabs(b); });
    CHECK(evaluate<float>(fast_pow(Expr(0.0f), 0.0f)) == 1.0f);
    CHECK(evaluate<float>(fast_pow(Expr(1.5f), 2)) == 2.25f);
    CHECK(evaluate<int>(fast_pow(Expr(3), 3)) == 27);
    Param<int> base("base"), exponent("exponent");
    base.set(3), exponent.set(3);
    CHECK(std::fabs(evaluate<float>(fast_pow(base, exponent)) - 27) < 27 * 2e-5f);
    CHECK(std::fabs(evaluate<float>(fast_pow(cast<double>(base), 1.5)) - std::pow(3, 1.5)) < 2e-4);
}

TEST_CASE("lerp of floats", "[floats]") {
    Var x("x"), y("y");
    everywhere::check<float>(
        [&] {
            Func f("f");
            f(x, y) = lerp(cast<float>(x), cast<float>(y), cast<float>(x & 7) / 8.0f);
            return f;
        },
        [](int x, int y) {
            float weight = static_cast<float>(x & 7) / 8.0f;
            return static_cast<float>(x) * (1 - weight) + static_cast<float>(y) * weight;
        },
        [](float a, float b) { return std::fabs(a - b) < 1e-4f; });
}

TEST_CASE("reinterpret", "[floats]") {
    Var x("x"), y("y");
    everywhere::check<int>(
        [&] {
            Func f("f");
            f(x, y) = reinterpret<int>(cast<float>(x) * 0.5f + cast<float>(y));
            return f;
        },
        [](int x, int y) {
            return std::bit_cast<int>(static_cast<float>(x) * 0.5f + static_cast<float>(y));
        });
    everywhere::check<float>(
        [&] {
            Func f("f");
            f(x, y) = reinterpret<float>(0x3f800000 + 64 * abs(x) + 64 * abs(y));
            return f;
        },
        [](int x, int y) {
            return std::bit_cast<float>(0x3f800000 + 64 * std::abs(x) + 64 * std::abs(y));
        });
    everywhere::check<int8_t>(
        [&] {
            Func f("f");
            f(x, y) = reinterpret<int8_t>(cast<uint8_t>(x + 100 * y));
            return f;
        },
        [](int x, int y) { return static_cast<int8_t>(x + 100 * y); });
    everywhere::check<uint16_t>(
        [&] {
            Func f("f");
            f(x, y) = reinterpret<uint16_t>(cast<float16_t>(cast<float>(x) * 0.5f));
            return f;
        },
        [](int x, int) { return float16_t(static_cast<float>(x) * 0.5f).to_bits(); });
    everywhere::check<int64_t>(
        [&] {
            Func f("f");
            f(x, y) = reinterpret<int64_t>(cast<double>(x) * 0.25 - cast<double>(y));
            return f;
        },
        [](int x, int y) { return std::bit_cast<int64_t>(x * 0.25 - y); });
}

TEST_CASE("reinterpret of constants", "[floats]") {
    CHECK(evaluate<int>(reinterpret<int>(Expr(1.0f))) == 0x3f800000);
    CHECK(evaluate<float>(reinterpret<float>(Expr(0x40490fdb))) == 0x1.921fb6p1f);
    CHECK(evaluate<uint16_t>(reinterpret<uint16_t>(Expr(float16_t(1.0f)))) == 0x3c00);
    CHECK(evaluate<int8_t>(reinterpret<int8_t>(cast<uint8_t>(200))) == -56);
}

TEST_CASE("strict_float keeps products and sums apart", "[floats]") {
    // (1 + e)(1 - e) - 1 = -e^2 with one rounding, 0 with two.
    Param<float> a("a"), b("b");
    a.set(1 + 0x1p-13f), b.set(1 - 0x1p-13f);
    Var x("x"), y("y");
    everywhere::check<float>(
        [&] {
            Func f("f");
            f(x, y) = strict_float(a * b - 1.0f) + cast<float>(x);
            return f;
        },
        [](int x, int) { return static_cast<float>(x); });
    // Of the difference nothing is left of x = 0 only: -2^-26 is lost beside any other x.
    Func f("f");
    f(x) = strict_float(a * (b + 0.0f * cast<float>(x)) - 1.0f);
    Target fast = get_host_target().with_feature(Target::FastMath);
    for (int lanes : {1, 3, 8, 16}) {
        Func g("g");
        g(x) = f(x);
        g.vectorize(x, lanes, TailStrategy::GuardWithIf);
        for (const Target &target : {get_host_target(), fast}) {
            Buffer<float> out(37);
            out.set_min(-5);
            g.realize(out, target);
            CHECK(out.all_equal(0.0f));
        }
    }
}

TEST_CASE("unary minus of 0 is -0, and of -0 is 0", "[floats]") {
    Var x("x"), y("y");
    const float values[] = {0.0f, -0.0f, 1.5f, -2.0f, INFINITY};
    Buffer<float> in(5);
    in.fill([&](int i) { return values[i]; });
    auto value = [&](int i) { return values[(i % 5 + 5) % 5]; };
    for (bool strict : {false, true}) {
        auto negative = [&](const Expr &e) { return strict ? strict_float(-e) : -e; };
        everywhere::check<float>(
            [&] {
                Func f("f");
                f(x, y) = negative(in(x % 5));
                return f;
            },
            [&](int i, int) { return -value(i); },
            [](float a, float b) { return a == b && std::signbit(a) == std::signbit(b); });
        everywhere::check<float>(
            [&] {
                Func f("f");
                f(x, y) = 1.0f / negative(in(x % 5));
                return f;
            },
            [&](int i, int) { return 1.0f / -value(i); });
    }
    CHECK(std::signbit(evaluate<float>(-Expr(0.0f))));
    CHECK(!std::signbit(evaluate<float>(-Expr(-0.0f))));
    CHECK(std::signbit(evaluate<double>(-Expr(0.0))));
    CHECK(evaluate<float16_t>(-Expr(float16_t(0.0))).to_bits() == 0x8000);
}

TEST_CASE("misuse of floats", "[floats][error]") {
    Var x("x");
    require_message<CompileError>([&] { fast_exp(x); }, {"fast_exp", "float32", "int32"});
    require_message<CompileError>([&] { fast_inverse(cast<double>(x)); }, {"fast_inverse"});
    require_message<CompileError>([&] { reinterpret<float16_t>(x); }, {"reinterpret", "float16"});
}

// As in Halide, whose functions of bfloat16 are those of float.
TEST_CASE("functions of bfloat16 give float", "[float16]") {
    Var x("x");
    Expr b = cast<bfloat16_t>(x);
    for (const Expr &e : {sqrt(b), exp(b), floor(b), round(b), trunc(b), pow(b, 1.5f), atan2(b, b)})
        CHECK(e.type() == Float(32));
    CHECK(sqrt(cast<float16_t>(x)).type() == Float(16));
    Func f("f");
    f(x) = sqrt(b);
    CHECK(Buffer<float>(f.realize({8}))(7) == std::sqrt(7.f));
}
