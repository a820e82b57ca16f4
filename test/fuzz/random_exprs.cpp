// Random expressions keep their values when they are simplified.

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

/// before and after agree for some values of the variables. Overflow gives leave for anything.
void check_same(RandomExpr &random, const Expr &before, const Expr &after) {
    REQUIRE(after.type() == before.type());
    for (int i = 0; i < 12; i++) {
        Environment values = random.values();
        auto expected = evaluate(before, values);
        if (!expected)
            continue;
        auto actual = evaluate(after, values);
        // The rewritten form may overflow on the way where the original did not; arithmetic then
        // wraps, and the result is right. The evaluator has no wrapped int32, so it skips those.
        if (!actual)
            continue;
        if (same(before.type(), *expected, *actual))
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
        if (type.is_float() || type == UInt(64))
            type = Int(32);
        Expr e = random.make(type, 4);
        // Facts that the values below obey.
        Environment values = random.values();
        Facts facts;
        for (const auto &[name, lanes] : values)
            if (name.starts_with("int"))
                facts.bound(name, {lanes[0].i - random.below(3), lanes[0].i + random.below(3)});
        auto value = evaluate(e, values);
        if (!value)
            continue;
        INFO(e);
        for (const Expr &form : {e, simplify(e)}) {
            ConstantInterval bounds = constant_bounds(form, facts);
            INFO(form << " in [" << bounds.lo << ", " << bounds.hi << "], is " << (*value)[0].i);
            if (!bounds.contains((*value)[0].i))
                FAIL("out of bounds");
        }
        Expr known = simplify(e, facts);
        auto actual = evaluate(known, values);
        if (actual && !same(type, *value, *actual))
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
