// Random expressions keep their values when they are simplified.

#include <algorithm>
#include <cstdlib>

#include <catch2/catch_test_macros.hpp>

#include "fuzz/seeds.h"
#include "ir/constant_bounds.h"
#include "ir/cse.h"
#include "ir/equal.h"
#include "ir/print.h"
#include "ir/simplify.h"
#include "support/random_expr.h"

using namespace Pipe;
using namespace Pipe::ir;
using namespace Pipe::fuzz;
using namespace test;

namespace {

/// Whether all that is made of indices stays far from the ends of its type, as the simplifier may take for
/// granted.
bool indices_are_small(const Expr &e, const Environment &values) {
    Environment inside = values;
    if (e->op == Op::Let) {
        std::optional<Lanes> value = evaluate(e->value(), values);
        if (!value)
            return false;
        inside[e->name] = *value;
    }
    if (has_no_overflow(e.type()) && is_index(e)) {
        std::optional<Lanes> lanes = evaluate(e, values);
        if (!lanes || std::any_of(lanes->begin(), lanes->end(), [&](const Value &v) {
                return std::abs(v.i) > e.type().max_int() >> 8;
            }))
            return false;
    }
    for (size_t i = 0; i < e->args.size(); i++)
        if (!indices_are_small(e->args[i], e->op == Op::Let && i == 1 ? inside : values))
            return false;
    return true;
}

/// Whether the interval holds the value; the end of int64 stands for all of uint64 behind it.
bool holds(const ConstantInterval &bounds, Type type, int64_t value) {
    const bool is_behind = type == UInt(64) && value < 0;
    return is_behind ? !bounds.has_hi() : bounds.contains(value);
}

/// From up to two before i to up to two behind it.
ConstantInterval some_around(Type type, int64_t i, RandomExpr &random) {
    if (type == UInt(64) && i < 0)
        return {INT64_MAX - random.below(3), INT64_MAX};
    const int64_t before = random.below(3), behind = random.below(3);
    return {i < INT64_MIN + before ? INT64_MIN : i - before,
            i > INT64_MAX - behind ? INT64_MAX : i + behind};
}

/// before and after agree for some values of the variables. Overflow gives leave for anything.
void check_same(RandomExpr &random, const Expr &before, const Expr &after) {
    REQUIRE(after.type() == before.type());
    for (int i = 0; i < 12; i++) {
        Environment values = random.values();
        auto expected = evaluate(before, values);
        if (!expected)
            continue;
        // The rewritten form may overflow on the way where the original did not: arithmetic then wraps, and
        // the result must be right.
        auto actual = evaluate_wrapping(after, values);
        if (!actual || same(before.type(), *expected, *actual) ||
            !indices_are_small(before, values))
            continue;
        std::string text;
        for (const auto &[name, lanes] : values)
            text +=
                name + "=" + std::to_string(lanes[0].i) + "/" + std::to_string(lanes[0].f) + " ";
        FAIL("before: " << before << "\nafter:  " << after << "\nwith " << text);
    }
}

}  // namespace

TEST_CASE("simplify keeps the value of random scalar expressions") {
    for (uint64_t seed : each_seed(100)) {
        INFO("seed " << seed);
        RandomExpr random(seed);
        Expr e = random.make(seed % 3 ? Int(32) : random.scalar_type(), 2 + random.below(4));
        check_same(random, e, simplify(e));
    }
}

TEST_CASE("simplify keeps the value of random vector expressions") {
    for (uint64_t seed : each_seed(50)) {
        INFO("seed " << seed);
        RandomExpr random(seed);
        Type scalar = random.below(2) ? Int(32) : random.scalar_type();
        Expr e = random.make(scalar.with_lanes(4), 2 + random.below(3));
        check_same(random, e, simplify(e));
    }
}

TEST_CASE("simplify has nothing to do the second time, mostly") {
    int changed = 0, total = 0;
    for (uint64_t seed : each_seed(33)) {
        total++;
        RandomExpr random(seed);
        Expr once = simplify(random.make(Int(32), 4));
        changed += !equal(once, simplify(once));
    }
    if (total > 100)
        CHECK(changed < total / 20);
}

TEST_CASE("constant bounds hold the values of random expressions") {
    for (uint64_t seed : each_seed(66)) {
        INFO("seed " << seed);
        RandomExpr random(seed);
        Type type = random.scalar_type();
        if (type.is_float())
            type = Int(32);
        Expr e = random.make(type, 4);
        // Facts that the values below obey.
        Environment values = random.values();
        Facts facts;
        for (const auto &[name, lanes] : values)
            if (name.starts_with("int") || name.starts_with("uint"))
                facts.bound(name, some_around(name.starts_with("uint64") ? UInt(64) : Int(64),
                                              lanes[0].i, random));
        auto value = evaluate(e, values);
        if (!value)
            continue;
        INFO(e);
        for (const Expr &form : {e, simplify(e)}) {
            ConstantInterval bounds = constant_bounds(form, facts);
            INFO(form << " in [" << bounds.lo << ", " << bounds.hi << "], is " << (*value)[0].i);
            if (!holds(bounds, type, (*value)[0].i))
                FAIL("out of bounds");
        }
        Expr known = simplify(e, facts);
        auto actual = evaluate_wrapping(known, values);
        if (actual && !same(type, *value, *actual) && indices_are_small(e, values))
            FAIL("with facts: " << known);
    }
}

TEST_CASE("cse keeps the value of random expressions") {
    for (uint64_t seed : each_seed(66)) {
        INFO("seed " << seed);
        RandomExpr random(seed);
        Type type = random.scalar_type();
        Expr a = random.make(type, 3);
        Expr e = type.is_bool() ? make_binary(Op::And, a, make_not(a))
                                : make_binary(Op::Add, make_binary(Op::Mul, a, a), a);
        check_same(random, e, cse(e));
    }
}
