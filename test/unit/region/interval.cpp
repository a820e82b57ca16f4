// Symbolic intervals against brute force: every value that an index takes lies in its interval.

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <random>

#include "ir/intrinsics.h"
#include "ir/print.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "region/touched.h"

using namespace Pipe;
using namespace Pipe::ir;
using namespace Pipe::region;

namespace {

Expr var(const char *name) {
    return make_variable(Int(32), name);
}
Expr c(int64_t value) {
    return make_int(Int(32), value);
}

/// A random index expression over x, y (ranging) and n (fixed).
Expr random_index(std::mt19937 &rng, int depth) {
    auto pick = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
    if (depth == 0) {
        switch (pick(4)) {
        case 0:
            return var("x");
        case 1:
            return var("y");
        case 2:
            return var("n");
        default:
            return c(pick(21) - 10);
        }
    }
    Expr a = random_index(rng, depth - 1), b = random_index(rng, depth - 1);
    switch (pick(9)) {
    case 0:
        return make_binary(Op::Add, a, b);
    case 1:
        return make_binary(Op::Sub, a, b);
    case 2:
        return make_binary(Op::Mul, a, c(pick(7) - 3));
    case 3:
        return make_binary(Op::Div, a, c(pick(4) + 1));
    case 4:
        return make_binary(Op::Mod, a, c(pick(4) + 1));
    case 5:
        return make_binary(Op::Min, a, b);
    case 6:
        return make_binary(Op::Max, a, b);
    case 7:
        return make_select(make_binary(Op::LT, a, b), a, b);
    default:
        return make_select(make_binary(Op::GE, a, c(pick(9) - 4)), make_binary(Op::Add, a, b), b);
    }
}

int64_t value_of(const Expr &e, int x, int y, int n) {
    Expr folded = simplify(substitute({{"x", c(x)}, {"y", c(y)}, {"n", c(n)}}, e));
    int64_t value = 0;
    INFO(to_string(e) << " at " << x << ", " << y << ", " << n << ": " << to_string(folded));
    REQUIRE(as_const_int(folded, &value));
    return value;
}

}  // namespace

TEST_CASE("intervals hold every value of the index", "[region]") {
    unsigned seed = 20260101;
    INFO("seed " << seed);
    std::mt19937 rng(seed);
    for (int trial = 0; trial < 400; trial++) {
        Expr e = random_index(rng, 1 + trial % 3);
        int x0 = static_cast<int>(rng() % 9) - 4, x1 = x0 + static_cast<int>(rng() % 5);
        int y0 = static_cast<int>(rng() % 9) - 4, y1 = y0 + static_cast<int>(rng() % 5);
        int n = static_cast<int>(rng() % 9) - 4;
        IntervalScope scope;
        scope.push("x", {c(x0), c(x1)});
        scope.push("y", {c(y0), c(y1)});
        Interval i = bounds_of(e, scope);
        for (int x = x0; x <= x1; x++)
            for (int y = y0; y <= y1; y++) {
                int64_t value = value_of(e, x, y, n);
                INFO(to_string(e) << ", x = " << x << ", y = " << y << ", n = " << n);
                if (i.min.defined())
                    REQUIRE(value_of(i.min, 0, 0, n) <= value);
                if (i.max.defined())
                    REQUIRE(value_of(i.max, 0, 0, n) >= value);
            }
    }
}

TEST_CASE("intervals of stencils and of sampling are exact", "[region]") {
    IntervalScope scope;
    scope.push("x", {var("lo"), add(var("lo"), c(31))});
    auto ends = [&](const Expr &e) {
        Interval i = bounds_of(e, scope);
        return to_string(simplify(i.min)) + " .. " + to_string(simplify(i.max));
    };
    Expr x = var("x");
    CHECK(ends(sub(x, c(1))) == "lo - 1 .. lo + 30");
    CHECK(ends(add(mul(c(2), x), c(1))) == "lo * 2 + 1 .. lo * 2 + 63");
    CHECK(ends(sub(c(0), x)) == to_string(simplify(sub(c(-31), var("lo")))) + " .. " +
                                    to_string(simplify(sub(c(0), var("lo")))));
}

TEST_CASE("clamps in all their spellings bound an index that depends on data", "[region]") {
    Expr data = make_cast(Int(32), make_call(Float(32), "in", {var("x")}, CallKind::Image));
    auto constant = [](const Expr &e) {
        int64_t v = -1;
        return e.defined() && as_const_int(simplify(e), &v) ? v : -1;
    };
    IntervalScope scope;
    SECTION("min(max())") {
        Interval i = bounds_of(ir::min(ir::max(data, c(0)), c(7)), scope);
        CHECK(constant(i.min) == 0);
        CHECK(constant(i.max) == 7);
    }
    SECTION("select on the variable itself") {
        scope.push("i", {c(-100), c(100)});
        Expr i = var("i");
        Expr e = make_select(make_binary(Op::LT, i, c(0)), c(0),
                             make_select(make_binary(Op::GT, i, c(9)), c(9), i));
        Interval b = bounds_of(e, scope);
        CHECK(constant(b.min) == 0);
        CHECK(constant(b.max) == 9);
    }
    SECTION("narrow types bound themselves") {
        Expr byte = make_call(UInt(8), "in", {var("x")}, CallKind::Image);
        Interval b = bounds_of(make_cast(Int(32), byte), scope);
        CHECK(constant(b.min) == 0);
        CHECK(constant(b.max) == 255);
    }
    SECTION("without a clamp there is no bound") {
        CHECK_FALSE(bounds_of(data, scope).bounded());
    }
}

TEST_CASE("what a select guards is touched only where its condition holds", "[region]") {
    IntervalScope scope;
    scope.push("x", {c(0), c(99)});
    Expr x = var("x");
    Expr guarded = make_call(Float(32), "in", {sub(x, c(10))}, CallKind::Image);
    Expr e = make_select(make_binary(Op::GE, x, c(10)), guarded, make_float(Float(32), 0));
    Touched touched;
    add_touched(e, scope, touched);
    REQUIRE(touched.count("in") == 1);
    CHECK(is_const(simplify(touched["in"][0].min), 0));
    CHECK(is_const(simplify(touched["in"][0].max), 89));
}
