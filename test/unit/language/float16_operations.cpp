// What is done with 16-bit floats, against its definition in wider types: of one argument for all numbers of
// the formats, of more for those where rounding is hard. Compiled with and without the processor's own
// conversions, in vectors and not, and evaluated by the reference; of constants, folded.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "float16.h"
#include "ir/expr_node.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

/// `slack`: how far what is computed as float may be off, relative to the value, before it is rounded.
template <typename F> bool agrees(F got, double want, double slack) {
    if (std::isnan(want))
        return got.is_nan();
    if (slack == 0 || std::isinf(want))
        return got.to_bits() == nearest<F>(want);
    const double off = slack * std::fabs(want) + 0x1p-126;  // libraries may flush what is denormal
    return F(want - off) <= got && got <= F(want + off);
}

/// The ends of the format and of its kinds of numbers, what lies around 1, and some of all sizes.
template <typename F> std::vector<F> hard_numbers(size_t count) {
    const uint16_t infinity = F::exponent_mask, least_normal = F::mantissa_mask + 1;
    const uint16_t one = F(1).to_bits();
    std::vector<F> values;
    auto add = [&](int bits) {
        if (bits > infinity)  // a quiet one: C's functions take others otherwise
            bits |= F::make_nan().to_bits();
        for (int sign : {0, 0x8000})
            if (values.size() < count)
                values.push_back(F::make_from_bits(static_cast<uint16_t>(bits | sign)));
    };
    for (int bits :
         {0, 1, 2, 3, int{F::mantissa_mask}, int{least_normal}, least_normal + 1, infinity - 1,
          int{infinity}, int{F::make_nan().to_bits()}, int{one}, one - 1, one + 1, one + 3})
        add(bits);
    for (uint32_t seed = 1; values.size() < count; seed++)
        add(static_cast<int>(seed * 2654435761u >> 17));
    return values;
}

struct Unary {
    const char *name;
    Expr (*expr)(const Expr &);
    double (*number)(double);
    double slack;
};

constexpr double of_float = 0x1p-20;  // a few units in the last place of a float

const Unary unary[] = {
    {"-x", [](const Expr &x) { return -x; }, [](double x) { return -x; }, 0},
    {"abs", abs, std::fabs, 0},
    {"sqrt", sqrt, std::sqrt, 0},
    {"floor", floor, std::floor, 0},
    {"ceil", ceil, std::ceil, 0},
    {"round", round, std::nearbyint, 0},
    {"trunc", trunc, std::trunc, 0},
    {"fract", fract, [](double x) { return x - std::trunc(x); }, 0},
    {"x * x", [](const Expr &x) { return x * x; }, [](double x) { return x * x; }, 0},
    {"x * 3 + ..", [](const Expr &x) { return fma(x, cast(x.type(), 3), x); },
     [](double x) { return 4 * x; }, 0},
    {"1 / x", [](const Expr &x) { return 1 / x; }, [](double x) { return 1 / x; }, 0},
    {"pow(x, 3)", [](const Expr &x) { return pow(x, 3); }, [](double x) { return x * x * x; },
     of_float},
    {"pow(x, 4)", [](const Expr &x) { return pow(x, 4); }, [](double x) { return x * x * x * x; },
     of_float},
    {"pow(x, -1)", [](const Expr &x) { return pow(x, -1); }, [](double x) { return 1 / x; }, 0},
    {"sin", sin, std::sin, of_float},
    {"exp", exp, std::exp, of_float},
    {"log", log, std::log, of_float},
    {"tanh", tanh, std::tanh, of_float},
    {"atan", atan, std::atan, of_float},
};

template <typename F> void check_unary() {
    const Buffer<F> all = all_numbers<F>();
    for (const Unary &op : unary) {
        INFO(op.name << " of " << to_string(type_of<F>()));
        evaluate_in_all_ways<F>(
            65536, [&](Var x) { return cast<F>(op.expr(all(x))); },
            [&](int i, F got) {
                return agrees(got, op.number(static_cast<double>(all(i))), op.slack);
            });
    }
}

/// The number nearest to op(a, b), by the type in which each is exact enough.
struct Binary {
    const char *name;
    Expr (*expr)(const Expr &, const Expr &);
    double (*number)(double, double);
    double slack;
};

Expr comparisons(const Expr &a, const Expr &b) {
    auto bit = [](const Expr &c, int n) { return select(c, 1 << n, 0); };
    return cast(a.type(), bit(a < b, 0) + bit(a <= b, 1) + bit(a > b, 2) + bit(a >= b, 3) +
                              bit(a == b, 4) + bit(a != b, 5));
}

double comparisons_of_numbers(double a, double b) {
    return (a < b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a >= b) + 16 * (a == b) + 32 * (a != b);
}

const Binary binary[] = {
    {"+", [](const Expr &a, const Expr &b) { return a + b; },
     [](double a, double b) { return a + b; }, 0},
    {"-", [](const Expr &a, const Expr &b) { return a - b; },
     [](double a, double b) { return a - b; }, 0},
    {"*", [](const Expr &a, const Expr &b) { return a * b; },
     [](double a, double b) { return a * b; }, 0},
    {"/", [](const Expr &a, const Expr &b) { return a / b; },
     [](double a, double b) { return a / b; }, 0},
    {"min", min, [](double a, double b) { return a < b ? a : b; }, 0},
    {"max", max, [](double a, double b) { return a > b ? a : b; }, 0},
    {"absd", absd, [](double a, double b) { return std::fabs(a - b); }, 0},
    {"select", [](const Expr &a, const Expr &b) { return select(a < b, b, -a); },
     [](double a, double b) { return a < b ? b : -a; }, 0},
    {"comparisons", comparisons, comparisons_of_numbers, 0},
    {"hypot", hypot,
     [](double a, double b) {
         auto x = static_cast<float>(a), y = static_cast<float>(b);
         return std::sqrt(static_cast<double>(x * x + y * y));
     },
     of_float},
    {"atan2", atan2, std::atan2, of_float},
    {"pow", pow, std::pow, of_float},
};

template <typename F> void check_binary() {
    const std::vector<F> values = hard_numbers<F>(256);
    const auto n = static_cast<int>(values.size());
    Buffer<F> in(n);
    std::copy(values.begin(), values.end(), in.begin());
    for (const Binary &op : binary) {
        INFO(op.name << " of " << to_string(type_of<F>()));
        evaluate_in_all_ways<F>(
            n * n, [&](Var x) { return cast<F>(op.expr(in(x % n), in(x / n))); },
            [&](int i, F got) {
                auto a = static_cast<double>(in(i % n)), b = static_cast<double>(in(i / n));
                return agrees(got, op.number(a, b), op.slack);
            });
        if (op.slack > 0)
            continue;
        int wrong = 0;
        for (F a : values)
            for (F b : values) {
                const Expr folded = op.expr(Expr(a), Expr(b));
                if (folded->op != ir::Op::FloatImm)
                    continue;
                double want = op.number(static_cast<double>(a), static_cast<double>(b));
                wrong += !agrees(F(folded->float_value), want, 0);
            }
        INFO("constants");
        CHECK(wrong == 0);
    }
}

/// a - b * floor(a / b) as float, where b * floor(a / b) is a float: whether it is fused does not matter.
template <typename F> void check_remainder() {
    const std::vector<F> values = hard_numbers<F>(256);
    const auto n = static_cast<int>(values.size());
    Buffer<F> in(n);
    std::copy(values.begin(), values.end(), in.begin());
    evaluate_in_all_ways<F>(
        n * n, [&](Var x) { return in(x % n) % in(x / n); },
        [&](int i, F got) {
            auto a = static_cast<float>(in(i % n)), b = static_cast<float>(in(i / n));
            const float whole = std::floor(a / b);
            const double product = static_cast<double>(b) * static_cast<double>(whole);
            if (std::isfinite(product) &&
                product != static_cast<double>(static_cast<float>(product)))
                return true;
            return agrees(got, static_cast<double>(a - static_cast<float>(product)), 0);
        });
}

template <typename F> struct Triple { F a, b, c; };

/// Also products halfway between two numbers, with summands that are too small for a double to see.
template <typename F> std::vector<Triple<F>> hard_triples() {
    std::vector<Triple<F>> triples;
    const std::vector<F> few = hard_numbers<F>(40), many = hard_numbers<F>(500);
    for (F a : few)
        for (F b : few)
            for (F c : few)
                triples.push_back({a, b, c});
    size_t halves = 0;
    for (F a : many)
        for (F b : many) {
            const double product = static_cast<double>(a) * static_cast<double>(b);
            const F rounded(product);
            const double off = std::fabs(static_cast<double>(rounded) - product);
            if (!std::isfinite(off) || off == 0 || halves >= 300)
                continue;
            const F beside(product + (product < static_cast<double>(rounded) ? -off : off) * 1.5);
            if (std::fabs(static_cast<double>(beside) - product) != off)
                continue;
            halves++;
            for (int bits : {0, 1, 0x8001, 0x0400, 0x8400, 0x1000, 0x9000, 0x2000, 0xa000})
                triples.push_back({a, b, F::make_from_bits(static_cast<uint16_t>(bits))});
        }
    REQUIRE(halves == 300);
    return triples;
}

/// Of a, b and c.
template <typename F>
void check_triples(const std::vector<Triple<F>> &triples,
                   const std::function<Expr(Expr, Expr, Expr)> &op,
                   const std::function<bool(F got, F a, F b, F c)> &right) {
    const auto n = static_cast<int>(triples.size());
    Buffer<F> in(n, 3);
    for (int i = 0; i < n; i++) {
        const Triple<F> &t = triples[static_cast<size_t>(i)];
        in(i, 0) = t.a, in(i, 1) = t.b, in(i, 2) = t.c;
    }
    evaluate_in_all_ways<F>(
        n, [&](Var x) { return op(in(x, 0), in(x, 1), in(x, 2)); },
        [&](int i, F got) { return right(got, in(i, 0), in(i, 1), in(i, 2)); });
}

template <typename F> void check_fma() {
    check_triples<F>(
        hard_triples<F>(), [](Expr a, Expr b, Expr c) { return fma(a, b, c); },
        [](F got, F a, F b, F c) {
            const auto p = static_cast<long double>(static_cast<double>(a)) *
                           static_cast<long double>(static_cast<double>(b));
            const auto q = static_cast<long double>(static_cast<double>(c));
            const long double sum = p + q;
            if (std::isnan(sum))
                return got.is_nan();
            // Knuth: what the sum leaves out of p + q, exactly
            const long double part = sum - p, rest = (p - (sum - part)) + (q - part);
            return got.to_bits() == nearest<F>(sum, std::isfinite(sum) ? rest : 0);
        });
}

template <typename F> void check_lerp() {
    std::vector<Triple<F>> triples;
    const std::vector<F> few = hard_numbers<F>(60);
    for (F a : few)
        for (F b : few)
            for (int w = 0; w <= 16; w++)
                triples.push_back({a, b, F(w / 16.0)});
    auto right = [](F got, F a, F b, F c) {
        const auto zero = static_cast<double>(a), one = static_cast<double>(b),
                   weight = static_cast<double>(c);
        const double left = zero * (1 - weight), other = one * weight, sum = left + other;
        if (std::isnan(sum) || std::isinf(sum))
            return agrees(got, sum, 0);
        const double off = 0x1p-23 * (std::fabs(left) + std::fabs(other));
        return F(sum - off) <= got && got <= F(sum + off);
    };
    check_triples<F>(
        triples, [](Expr a, Expr b, Expr w) { return lerp(a, b, w); }, right);
    // The weight is not rounded to 16 bits either.
    check_triples<F>(
        triples,
        [](Expr a, Expr b, Expr w) { return lerp(a, b, cast<float>(w) * 0.0625f + 0.01f); },
        [&](F got, F a, F b, F c) {
            const auto zero = static_cast<double>(a), one = static_cast<double>(b);
            const double weight = static_cast<double>(c) * 0.0625 + static_cast<double>(0.01f);
            const double left = zero * (1 - weight), other = one * weight, sum = left + other;
            if (std::isnan(sum) || std::isinf(sum))
                return agrees(got, sum, 0);
            const double off = 0x1p-22 * (std::fabs(left) + std::fabs(other));
            return F(sum - off) <= got && got <= F(sum + off);
        });
}

}  // namespace

TEST_CASE("operations on one 16-bit float", "[float16]") {
    check_unary<float16_t>();
    check_unary<bfloat16_t>();
}

TEST_CASE("operations on two 16-bit floats", "[float16]") {
    check_binary<float16_t>();
    check_binary<bfloat16_t>();
}

TEST_CASE("% of 16-bit floats rounds once", "[float16]") {
    check_remainder<float16_t>();
    check_remainder<bfloat16_t>();
}

TEST_CASE("fma of 16-bit floats rounds once", "[float16]") {
    check_fma<float16_t>();
    check_fma<bfloat16_t>();
}

TEST_CASE("lerp of 16-bit floats rounds once", "[float16]") {
    check_lerp<float16_t>();
    check_lerp<bfloat16_t>();
    const Expr weight = cast<bfloat16_t>(0.25f);
    const Expr between = lerp(cast<bfloat16_t>(-8.9375f), cast<bfloat16_t>(30.75f), weight);
    CHECK(evaluate<float>(cast<float>(between)) == 0.984375f);
}
