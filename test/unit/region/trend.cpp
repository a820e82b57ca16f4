// The way that an expression moves, against its values.

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <random>

#include "ir/print.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "region/trend.h"

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
Expr quotient(const Expr &a, int by) {
    return make_binary(Op::Div, a, c(by));
}
Expr remainder(const Expr &a, int by) {
    return make_binary(Op::Mod, a, c(by));
}

/// The rows that an upsampling by two reads for row y: y / 2 and the nearer neighbour; clamped, too.
std::pair<Expr, Expr> upsampled(const Expr &from, const Expr &to, bool clamped) {
    auto in = [&](const Expr &row) {
        return clamped ? ir::max(ir::min(row, sub(var("rows"), c(1))), c(0)) : row;
    };
    auto nearer = [&](const Expr &y) {
        return in(add(sub(quotient(y, 2), c(1)), mul(remainder(y, 2), c(2))));
    };
    return {simplify(ir::min(nearer(from), in(quotient(from, 2)))),
            simplify(ir::max(nearer(to), in(quotient(to, 2))))};
}

Expr random_staircase(std::mt19937 &rng, int depth) {
    auto pick = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
    if (depth == 0) {
        switch (pick(5)) {
        case 0:
            return c(pick(9) - 4);
        case 1:
            return var("n");
        default:
            return add(var("y"), var("n"));
        }
    }
    const Expr a = random_staircase(rng, depth - 1), b = random_staircase(rng, depth - 1);
    switch (pick(8)) {
    case 0:
        return add(a, b);
    case 1:
        return sub(a, b);
    case 2:
        return ir::min(a, b);
    case 3:
        return ir::max(a, b);
    case 4:
        return mul(a, c(pick(7) - 3));
    case 5:
        return quotient(a, 1 + pick(4));
    default:
        return remainder(a, 1 + pick(4));
    }
}

int64_t value_of(const Expr &e, int y, int n) {
    const Expr folded = simplify(substitute({{"y", c(y)}, {"n", c(n)}}, e));
    int64_t value = 0;
    INFO(to_string(e) << " at " << y << ", " << n << ": " << to_string(folded));
    REQUIRE(as_const_int(folded, &value));
    return value;
}

}  // namespace

TEST_CASE("the rows that an upsampling reads go upwards, level by level", "[region]") {
    for (bool clamped : {false, true}) {
        std::pair<Expr, Expr> rows{add(var("y"), var("offset")), add(var("y"), var("offset"))};
        for (int level = 0; level < 6; level++) {
            rows = upsampled(rows.first, rows.second, clamped);
            INFO(to_string(rows.first) << " .. " << to_string(rows.second));
            CHECK(trend_of(rows.first, "y") == Trend::Up);
            CHECK(trend_of(rows.second, "y") == Trend::Up);
        }
        const auto [low, high] = upsampled(sub(c(7), var("y")), sub(c(7), var("y")), clamped);
        CHECK(trend_of(low, "y") == Trend::Down);
        CHECK(trend_of(high, "y") == Trend::Down);
    }
}

TEST_CASE("what goes back and forth goes nowhere", "[region]") {
    const Expr y = var("y");
    CHECK(trend_of(remainder(y, 2), "y") == Trend::Unknown);
    CHECK(trend_of(add(quotient(y, 2), mul(remainder(y, 2), c(2))), "y") == Trend::Unknown);
    CHECK(trend_of(add(quotient(y, 2), remainder(y, 2)), "y") == Trend::Up);
    CHECK(trend_of(add(mul(y, c(2)), remainder(y, 1000)), "y") == Trend::Unknown);
    CHECK(trend_of(remainder(var("n"), 2), "y") == Trend::Constant);
    CHECK(trend_of(quotient(remainder(y, 2), 2), "y") == Trend::Constant);  // always 0
}

TEST_CASE("trends hold for the values of random staircases", "[region]") {
    const unsigned seed = 20261125;
    INFO("seed " << seed);
    std::mt19937 rng(seed);
    int steps = 0;  // staircases that do go somewhere
    for (int trial = 0; trial < 3000; trial++) {
        const Expr e = random_staircase(rng, 1 + trial % 4);
        const Trend way = trend_of(e, "y");
        if (way == Trend::Unknown || way == Trend::BothWays)
            continue;
        const bool stairs = contains(e, [](const ExprNode &node) { return node.op == Op::Mod; });
        bool moves = false;
        INFO(to_string(e));
        for (int n = -1; n <= 1; n++)
            for (int y = -17; y < 17; y++) {
                const int64_t here = value_of(e, y, n), next = value_of(e, y + 1, n);
                if (way != Trend::Down)
                    REQUIRE(here <= next);
                if (way != Trend::Up)
                    REQUIRE(here >= next);
                moves |= here != next;
            }
        steps += stairs && moves;
    }
    CHECK(steps > 50);
}
