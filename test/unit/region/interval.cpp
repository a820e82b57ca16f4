// Symbolic intervals against brute force: every value that an index takes lies in its interval.

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <random>

#include "ir/intrinsics.h"
#include "ir/print.h"
#include "ir/simplify.h"
#include "region/touched.h"
#include "support/index.h"

using namespace Pipe;
using namespace Pipe::ir;
using namespace Pipe::region;
using test::num, test::random_index, test::value_of, test::var;

TEST_CASE("intervals hold every value of the index", "[region]") {
    unsigned seed = 20260101;
    INFO("seed " << seed);
    std::mt19937 rng(seed);
    for (int trial = 0; trial < 400; trial++) {
        Expr e = random_index(rng, 1 + trial % 3);
        int i0 = static_cast<int>(rng() % 9) - 4, i1 = i0 + static_cast<int>(rng() % 5);
        int j0 = static_cast<int>(rng() % 9) - 4, j1 = j0 + static_cast<int>(rng() % 5);
        int r = static_cast<int>(rng() % 9) - 4;
        IntervalScope scope;
        scope.push("i", {num(i0), num(i1)});
        scope.push("j", {num(j0), num(j1)});
        Interval bounds = bounds_of(e, scope);
        for (int i = i0; i <= i1; i++)
            for (int j = j0; j <= j1; j++) {
                int64_t value = value_of(e, {{"i", i}, {"j", j}, {"r", r}});
                INFO(to_string(e) << ", i = " << i << ", j = " << j << ", r = " << r);
                if (bounds.min.defined())
                    REQUIRE(value_of(bounds.min, {{"r", r}}) <= value);
                if (bounds.max.defined())
                    REQUIRE(value_of(bounds.max, {{"r", r}}) >= value);
            }
    }
}

TEST_CASE("intervals of stencils and of sampling are exact", "[region]") {
    IntervalScope scope;
    scope.push("x", {var("lo"), add(var("lo"), num(31))});
    auto ends = [&](const Expr &e) {
        Interval i = bounds_of(e, scope);
        return to_string(simplify(i.min)) + " .. " + to_string(simplify(i.max));
    };
    Expr x = var("x");
    CHECK(ends(sub(x, num(1))) == "lo - 1 .. lo + 30");
    CHECK(ends(add(mul(num(2), x), num(1))) == "lo * 2 + 1 .. lo * 2 + 63");
    CHECK(ends(sub(num(0), x)) == to_string(simplify(sub(num(-31), var("lo")))) + " .. " +
                                      to_string(simplify(sub(num(0), var("lo")))));
}

TEST_CASE("clamps in all their spellings bound an index that depends on data", "[region]") {
    Expr data = make_cast(Int(32), make_call(Float(32), "in", {var("x")}, CallKind::Image));
    auto constant = [](const Expr &e) {
        int64_t v = -1;
        return e.defined() && as_const_int(simplify(e), &v) ? v : -1;
    };
    IntervalScope scope;
    SECTION("min(max())") {
        Interval i = bounds_of(ir::min(ir::max(data, num(0)), num(7)), scope);
        CHECK(constant(i.min) == 0);
        CHECK(constant(i.max) == 7);
    }
    SECTION("select on the variable itself") {
        scope.push("i", {num(-100), num(100)});
        Expr i = var("i");
        Expr e = make_select(make_binary(Op::LT, i, num(0)), num(0),
                             make_select(make_binary(Op::GT, i, num(9)), num(9), i));
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
    scope.push("x", {num(0), num(99)});
    Expr x = var("x");
    Expr guarded = make_call(Float(32), "in", {sub(x, num(10))}, CallKind::Image);
    Expr e = make_select(make_binary(Op::GE, x, num(10)), guarded, make_float(Float(32), 0));
    Touched touched;
    add_touched(e, scope, touched);
    REQUIRE(touched.count("in") == 1);
    CHECK(is_const(simplify(touched["in"][0].min), 0));
    CHECK(is_const(simplify(touched["in"][0].max), 89));
}

TEST_CASE("a clamp bounds an index of any size", "[region]") {
    region::IntervalScope scope;
    scope.push("x", {0, 10});
    Expr sum = ir::make_variable(Int(32), "x");
    for (int i = 0; i < 600; i++) {
        sum = sum + ir::make_variable(Int(32), "v" + std::to_string(i));
        INFO(i << " variables");
        const region::Interval clamped = region::bounds_of(max(min(sum, 99), 0), scope);
        REQUIRE(clamped.min.defined());
        REQUIRE(clamped.max.defined());
    }
}

// Each step uses the one before three times, so that the clamped part is too large to be part of a bound.
TEST_CASE("a large clamped part of an index counts as its constant bounds", "[region]") {
    region::IntervalScope scope;
    const Expr lowest = ir::make_variable(Int(32), "x.min"), x = ir::make_variable(Int(32), "x");
    scope.push("x", {lowest, lowest + 10});
    Expr large = ir::make_variable(Int(32), "a");
    for (int i = 0; i < 8; i++)
        large = select(large > i, large, large + 1);
    for (const Expr &index :
         {x + clamp(large, 0, 50), x * 2 - clamp(large, -50, 0), Pipe::min(x + max(large, 0), x + 50)}) {
        INFO(index);
        const region::Interval bounds = region::bounds_of(index, scope);
        REQUIRE(bounds.min.defined());
        REQUIRE(bounds.max.defined());
        const int64_t steps = index->op == ir::Op::Sub ? 2 : 1;
        CHECK(is_const(simplify(bounds.min - lowest * int(steps)), 0));
        CHECK(is_const(simplify(bounds.max - lowest * int(steps)), 10 * steps + 50));
    }
}

TEST_CASE("an index that is a chain of selects keeps its bounds", "[region]") {
    // As trees, the ends double with each step, and none of them is a constant.
    constexpr int steps = 30;
    const Expr v = ir::make_variable(Int(32), "x");
    for (int kind : {0, 1}) {
        Expr e = v;
        for (int i = 0; i < steps; i++)
            e = kind == 0 ? select(e > i, min(e, 1000) + 1, e + 2)
                          : select(e > i, min(e, 1000) + 1, max(e, 0) + 2);
        region::IntervalScope scope;
        scope.push("x", {ir::make_variable(Int(32), "x.min"), ir::make_variable(Int(32), "n")});
        const region::Interval range = region::bounds_of(e, scope);
        INFO("kind " << kind);
        CHECK(range.bounded());
    }
}
