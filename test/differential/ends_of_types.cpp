// Data and Params may be any number of their type: what is computed from them is as it would be in loops,
// also near the ends. (Indices stay far from these, so that their sums may be rewritten.)
#include <pipe/pipe.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "differential/against_reference.h"

using namespace Pipe;

namespace {

Var x("x"), xo("xo"), xi("xi");

int64_t div_down(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}
int64_t mod_down(int64_t a, int64_t b) {
    const int64_t rest = a % b;  // (a - quotient * b could overflow)
    return rest < 0 ? rest + b : rest;
}

struct Formula {
    const char *text;
    std::function<Expr(Expr, Expr)> in_pipe;
    std::function<int64_t(int64_t, int64_t)> in_loops;
};

const Formula formulas[] = {
    {"a % 1000 * 31 % 1000", [](Expr a, Expr) { return a % 1000 * 31 % 1000; },
     [](int64_t a, int64_t) { return mod_down(a, 1000) * 31 % 1000; }},
    {"(a % 7 + b % 7) % 7", [](Expr a, Expr b) { return (a % 7 + b % 7) % 7; },
     [](int64_t a, int64_t b) { return (mod_down(a, 7) + mod_down(b, 7)) % 7; }},
    {"(a % 6 * 2 + 5) % 12", [](Expr a, Expr) { return (a % 6 * 2 + 5) % 12; },
     [](int64_t a, int64_t) { return (mod_down(a, 6) * 2 + 5) % 12; }},
    {"(a / 2 + 1) / 2", [](Expr a, Expr) { return (a / 2 + 1) / 2; },
     [](int64_t a, int64_t) { return div_down(div_down(a, 2) + 1, 2); }},
    {"(a / 4 - 1000) / 3", [](Expr a, Expr) { return (a / 4 - 1000) / 3; },
     [](int64_t a, int64_t) { return div_down(div_down(a, 4) - 1000, 3); }},
    {"(a / 2 - 8) % 100", [](Expr a, Expr) { return (a / 2 - 8) % 100; },
     [](int64_t a, int64_t) { return mod_down(div_down(a, 2) - 8, 100); }},
    {"(a % 16 + b % 16 * 4) / 4", [](Expr a, Expr b) { return (a % 16 + b % 16 * 4) / 4; },
     [](int64_t a, int64_t b) { return (mod_down(a, 16) + mod_down(b, 16) * 4) / 4; }},
};

/// Numbers all over the type, the ends among them.
template <typename T> std::vector<T> numbers(uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<T> result{std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), 0, 1, -1};
    while (result.size() < 100)
        result.push_back(static_cast<T>(random()));
    return result;
}

template <typename T> void check_formulas() {
    auto a = numbers<T>(1), b = numbers<T>(2);
    auto n = static_cast<int>(a.size());
    Buffer<T> in_a(a.data(), n), in_b(b.data(), n);
    for (const Formula &formula : formulas) {
        INFO(formula.text << " of " << to_string(type_of<T>()));
        Func f("f"), g("g");
        f(x) = formula.in_pipe(in_a(x), in_b(x));
        f.vectorize(x, 8);
        Param<T> p("p"), q("q");
        g(x) = formula.in_pipe(p, q) + cast<T>(x);
        Buffer<T> result = f.realize({n});
        for (size_t i = 0; i < a.size(); i++) {
            const auto expected = static_cast<T>(formula.in_loops(a[i], b[i]));
            REQUIRE(result(static_cast<int>(i)) == expected);
            p.set(a[i]), q.set(b[i]);
            if (i < 8)
                REQUIRE(Buffer<T>(g.realize({1}))(0) == expected);
        }
    }
}

}  // namespace

TEST_CASE("quotients and remainders of data near the ends of its type", "[differential]") {
    check_formulas<int32_t>();
    check_formulas<int64_t>();
}

TEST_CASE("a dividend that is moved by one, at the end of its type", "[differential]") {
    Buffer<int> in(2);
    in(0) = INT32_MAX, in(1) = INT32_MIN + 1;
    Func f("f");
    f(x) = (in(x)-1) / 2;
    Buffer<int> result = f.realize({2});
    CHECK(result(0) == (INT32_MAX - 1) / 2);
    CHECK(result(1) == INT32_MIN / 2);
}

TEST_CASE("comparisons with the ends of int64", "[differential]") {
    const std::vector<int64_t> values{INT64_MIN, INT64_MIN + 1, -1, 5, INT64_MAX - 1, INT64_MAX};
    Buffer<int64_t> in(6);
    std::copy(values.begin(), values.end(), in.begin());
    const Expr least(INT64_MIN), most(INT64_MAX), a = in(x);
    Func f("f");
    f(x) =
        Tuple(a <= most, a > most, a < most, a >= most, a<least, a >= least, a <= least, a> least,
              0 - max(a, -most) >= 0 - most, 0 - max(a, -most) < 0 - most);
    Realization result = f.realize({6});
    for (int i = 0; i < 6; i++) {
        const int64_t v = values[static_cast<size_t>(i)];
        const std::vector<bool> expected{
            true, false, v<INT64_MAX, v == INT64_MAX, false, true, v == INT64_MIN, v> INT64_MIN,
            true, false};
        for (size_t n = 0; n < expected.size(); n++) {
            INFO(v << ", comparison " << n);
            CHECK(Buffer<bool>(result[n])(i) == expected[n]);
        }
    }
}

namespace {

/// p - (a + c) and others of its kind: nothing overflows in this order, but p - a does.
template <typename T> void check_sums() {
    constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    constexpr T half = most / 2;
    const int n = 16;
    Buffer<T> a(n), b(n);
    std::vector<T> difference, sum;
    Param<T> p("p", 7);
    for (int i = 0; i < n; i++) {
        a(i) = i < 8 ? static_cast<T>(least + i) : static_cast<T>(-i);
        b(i) = static_cast<T>(2 * i);
        difference.push_back(static_cast<T>(b(i) - (a(i) + half)));
        sum.push_back(static_cast<T>((a(i) + most) + 7));
    }
    const Expr d = b(x) - (a(x) + Expr(half)), s = a(x) + Expr(most) + p;
    for (int lanes : {1, 8}) {
        INFO(to_string(type_of<T>()) << ", lanes " << lanes);
        Func f("f");
        f(x) = Tuple(d, cast<int>(d > 100), saturating_cast<int8_t>(d), clamp(d, 0, 255), d / 3,
                     cast<int64_t>(d) / 1000, cast<double>(d), s, cast<int>(s > 100),
                     cast<int64_t>(s) / 1000, a(x) - Expr(least));
        if (lanes > 1)
            f.vectorize(x, lanes);
        Realization r = f.realize({n});
        for (int i = 0; i < n; i++) {
            INFO("x = " << i);
            const T v = difference[static_cast<size_t>(i)], w = sum[static_cast<size_t>(i)];
            CHECK(Buffer<T>(r[0])(i) == v);
            CHECK(Buffer<int>(r[1])(i) == (v > 100));
            CHECK(Buffer<int8_t>(r[2])(i) == std::clamp<T>(v, -128, 127));
            CHECK(Buffer<T>(r[3])(i) == std::clamp<T>(v, 0, 255));
            CHECK(Buffer<T>(r[4])(i) == div_down(v, 3));
            CHECK(Buffer<int64_t>(r[5])(i) == div_down(v, 1000));
            CHECK(Buffer<double>(r[6])(i) == static_cast<double>(v));
            CHECK(Buffer<T>(r[7])(i) == w);
            CHECK(Buffer<int>(r[8])(i) == (w > 100));
            CHECK(Buffer<int64_t>(r[9])(i) == div_down(w, 1000));
            if (i < 8)
                CHECK(Buffer<T>(r[10])(i) == i);
        }
    }
}

}  // namespace

TEST_CASE("sums that would overflow in another order", "[differential]") {
    check_sums<int32_t>();
    check_sums<int64_t>();
}

TEST_CASE("comparisons with a Param near the ends of its type", "[differential]") {
    Param<int> p("p"), q("q");
    Func f("f");
    SECTION("which x is above") {
        f(x) = select(p < x, 1, 0);
    }
    SECTION("in blocks") {
        f(x) = select(x < p, x, 7);
        f.split(x, xo, xi, 8, TailStrategy::GuardWithIf).unroll(xi);
    }
    SECTION("of a quotient, from below") {
        f(x) = select(p <= x / 4, 1, 0);
    }
    SECTION("of a quotient, from above") {
        f(x) = select(x / 4 <= p, 1, 0);
    }
    SECTION("of a quotient by seven") {
        f(x) = select(x / 7 < p, 1, 0);
    }
    SECTION("of a sum") {
        f(x) = select(x - 5 < p, 1, 0);
    }
    SECTION("a minimum of it") {
        f(x) = min(p / 2 - 5, q / 2 + 9) + x;
    }
    SECTION("of two") {
        f(x) = select(p / 2 - 5 < q / 2 + 9, 1, x);
    }
    SECTION("of an RVar") {
        RDom r(0, 37, "r");
        r.where(r < p);
        f(x) = x;
        f(x) += r;
        f.update().unroll(r, 4);
    }
    SECTION("of twice an RVar") {
        RDom r(0, 37, "r");
        r.where(r * 2 < p);
        f(x) = x;
        f(x) += r;
        f.update().unroll(r, 4);
    }
    for (int a :
         {INT32_MIN, INT32_MIN + 1, INT32_MIN + 3, -1034628871, 0, 9, 40, INT32_MAX - 2, INT32_MAX})
        for (int b : {INT32_MIN, 5, INT32_MAX}) {
            p.set(a), q.set(b);
            INFO("p = " << a << ", q = " << b);
            check_against_reference<int>(f, {64});
        }
}

TEST_CASE("what a condition on a Param near the ends of its type needs", "[differential]") {
    struct Condition {
        const char *text;
        std::function<Expr(Expr, Expr)> in_pipe;
        std::function<int64_t(int64_t, int64_t)> left_side;
        std::function<bool(int64_t, int64_t)> in_loops;
    };
    const Condition conditions[] = {
        {"x - p < 10", [](Expr i, Expr p) { return i - p < 10; },
         [](int64_t i, int64_t p) { return i - p; },
         [](int64_t i, int64_t p) { return i - p < 10; }},
        {"x + p < 10", [](Expr i, Expr p) { return i + p < 10; },
         [](int64_t i, int64_t p) { return i + p; },
         [](int64_t i, int64_t p) { return i + p < 10; }},
        {"x - p > -10", [](Expr i, Expr p) { return i - p > -10; },
         [](int64_t i, int64_t p) { return i - p; },
         [](int64_t i, int64_t p) { return i - p > -10; }},
        {"x + p > -10", [](Expr i, Expr p) { return i + p > -10; },
         [](int64_t i, int64_t p) { return i + p; },
         [](int64_t i, int64_t p) { return i + p > -10; }},
        {"x <= p", [](Expr i, Expr p) { return i <= p; }, [](int64_t i, int64_t) { return i; },
         [](int64_t i, int64_t p) { return i <= p; }},
        {"x * 2 - p <= 3", [](Expr i, Expr p) { return i * 2 - p <= 3; },
         [](int64_t i, int64_t p) { return i * 2 - p; },
         [](int64_t i, int64_t p) { return i * 2 - p <= 3; }},
    };
    for (const Condition &c : conditions) {
        Param<int> p("p");
        Func f("f"), g("g");
        g(x) = x * 3 + 1;
        g.compute_root();
        f(x) = select(c.in_pipe(x, p), g(x), -5);
        Pipeline pipeline(f);
        for (int value : {INT32_MIN, INT32_MIN + 1, INT32_MIN + 40, -7, 0, 6, INT32_MAX - 40,
                          INT32_MAX - 1, INT32_MAX}) {
            p.set(value);
            Buffer<int> out = pipeline.realize({20});
            for (int i = 0; i < 20; i++) {
                INFO(c.text << " with x = " << i << ", p = " << value);
                if (c.left_side(i, value) == static_cast<int>(c.left_side(i, value)))
                    CHECK(out(i) == (c.in_loops(i, value) ? i * 3 + 1 : -5));
            }
        }
    }
}

// The index was evaluated again after the first value had been stored.
TEST_CASE("a Tuple is stored where the old values say", "[differential]") {
    Func f("f");
    RDom r(0, 5, "r");
    f(x) = Tuple((x * 2) % 6, x + 10);
    f(clamp(f(r)[0], 0, 5)) = Tuple(f(r)[1] % 6, f(r)[0] + 20);
    Buffer<int> a(6), b(6);
    f.realize({a, b});
    int first[6], second[6];
    for (int i = 0; i < 6; i++)
        first[i] = i * 2 % 6, second[i] = i + 10;
    for (int i = 0; i < 5; i++) {
        int at = std::min(std::max(first[i], 0), 5), one = second[i] % 6, two = first[i] + 20;
        first[at] = one, second[at] = two;
    }
    for (int i = 0; i < 6; i++) {
        CHECK(a(i) == first[i]);
        CHECK(b(i) == second[i]);
    }
}
