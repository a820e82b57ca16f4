// Tests of floats, math, approximations.
#include <bit>
#include <cmath>
#include <limits>

#include "support/everywhere.h"
#include "support/require_message.h"

using namespace Pipe;

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

TEST_CASE("math", "[floats]") {
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

TEST_CASE("math of two arguments, and fract", "[floats]") {
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
