// The way that an expression moves, against its values.

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <random>

#include "ir/print.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/trend.h"
#include "ir/visit.h"
#include "support/index.h"

using namespace Pipe;
using namespace Pipe::ir;
using namespace Pipe::ir;
using namespace test;

namespace {

Expr quotient(const Expr &a, int by) {
    return bin(Op::Div, a, num(by));
}
Expr remainder(const Expr &a, int by) {
    return bin(Op::Mod, a, num(by));
}

/// The rows that an upsampling by two reads for row y: y / 2 and the nearer neighbor; clamped, too.
std::pair<Expr, Expr> upsampled(const Expr &from, const Expr &to, bool inside) {
    auto in = [&](const Expr &row) {
        return inside ? ir::max(ir::min(row, sub(var("rows"), num(1))), num(0)) : row;
    };
    auto nearer = [&](const Expr &y) {
        return in(add(sub(quotient(y, 2), num(1)), mul(remainder(y, 2), num(2))));
    };
    return {simplify(ir::min(nearer(from), in(quotient(from, 2)))),
            simplify(ir::max(nearer(to), in(quotient(to, 2))))};
}

/// Whether a remainder of what `i` is in is in it.
bool has_stairs(const Expr &e) {
    return contains(
        e, [](const ExprNode &node) { return node.op == Op::Mod && uses_var(node.a(), "i"); });
}

}  // namespace

TEST_CASE("the rows that an upsampling reads go upwards, level by level", "[ir]") {
    for (bool inside : {false, true}) {
        std::pair<Expr, Expr> rows{add(var("y"), var("offset")), add(var("y"), var("offset"))};
        for (int level = 0; level < 6; level++) {
            rows = upsampled(rows.first, rows.second, inside);
            INFO(to_string(rows.first) << " .. " << to_string(rows.second));
            CHECK(trend_of(rows.first, "y") == Trend::Up);
            CHECK(trend_of(rows.second, "y") == Trend::Up);
        }
        const auto [low, high] = upsampled(sub(num(7), var("y")), sub(num(7), var("y")), inside);
        CHECK(trend_of(low, "y") == Trend::Down);
        CHECK(trend_of(high, "y") == Trend::Down);
    }
}

TEST_CASE("what goes back and forth goes nowhere", "[ir]") {
    const Expr y = var("y");
    CHECK(trend_of(remainder(y, 2), "y") == Trend::Unknown);
    CHECK(trend_of(add(quotient(y, 2), mul(remainder(y, 2), num(2))), "y") == Trend::Unknown);
    CHECK(trend_of(add(quotient(y, 2), remainder(y, 2)), "y") == Trend::Up);
    CHECK(trend_of(add(mul(y, num(2)), remainder(y, 1000)), "y") == Trend::Unknown);
    CHECK(trend_of(remainder(var("n"), 2), "y") == Trend::Constant);
    CHECK(trend_of(quotient(remainder(y, 2), 2), "y") == Trend::Constant);  // always 0
}

TEST_CASE("trends hold for the values of random indices", "[ir]") {
    const unsigned seed = 20261125;
    INFO("seed " << seed);
    std::mt19937 rng(seed);
    int stairs = 0;  // that go somewhere
    for (int trial = 0; trial < 6000; trial++) {
        const Expr e = random_index(rng, 2 + trial % 3);
        const Trend way = trend_of(e, "i");
        if (way == Trend::Unknown || way == Trend::BothWays)
            continue;
        bool moves = false;
        INFO(to_string(e));
        for (int r = -1; r <= 1; r++)
            for (int i = -17; i < 17; i++) {
                const int64_t here = value_of(e, {{"i", i}, {"j", 2 - r}, {"r", r}}),
                              next = value_of(e, {{"i", i + 1}, {"j", 2 - r}, {"r", r}});
                if (way != Trend::Down)
                    REQUIRE(here <= next);
                if (way != Trend::Up)
                    REQUIRE(here >= next);
                moves |= here != next;
            }
        stairs += moves && has_stairs(e);
    }
    CHECK(stairs > 20);
}
