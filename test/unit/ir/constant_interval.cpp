// Intervals of int64 whose ends are near the ends of int64.
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <vector>

#include "ir/constant_bounds.h"
#include "ir/intrinsics.h"
#include "ir/print.h"
#include "ir/simplify.h"

using namespace Pipe;
using namespace Pipe::ir;

namespace {

using Wide = __int128;
using Interval = ConstantInterval;

bool is_int64(Wide value) {
    return value >= INT64_MIN && value <= INT64_MAX;
}

/// All intervals with these ends: a bounded one holds both of them.
std::vector<Interval> intervals() {
    const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, -3, 0, 2, INT64_MAX - 1, INT64_MAX};
    std::vector<Interval> all;
    for (int64_t lo : ends)
        for (int64_t hi : ends)
            if (lo <= hi)
                all.push_back(Interval{lo, hi});
    return all;
}

/// The results of these two that int64 can hold are in `result`.
template <typename Operation>
void check_ends(const Interval &a, const Interval &b, const Interval &result, Operation &&op) {
    INFO("[" << a.lo << ", " << a.hi << "] and [" << b.lo << ", " << b.hi << "] give [" << result.lo
             << ", " << result.hi << "]");
    for (Wide x : {a.lo, a.hi})
        for (Wide y : {b.lo, b.hi})
            if (Wide value = op(x, y); is_int64(value) && !result.contains(int64_t(value)))
                FAIL(int64_t(value) << " is missing");
}

/// x / y with a remainder that is not negative; x / 0 = 0.
Wide divided(Wide x, Wide y) {
    if (y == 0)
        return 0;
    const Wide rest = x % y;
    return (x - (rest < 0 ? rest + (y > 0 ? y : -y) : rest)) / y;
}

}  // namespace

TEST_CASE("arithmetic on intervals holds its results at the ends of int64") {
    for (const Interval &a : intervals())
        for (const Interval &b : intervals()) {
            check_ends(a, b, a + b, [](Wide x, Wide y) { return x + y; });
            check_ends(a, b, a - b, [](Wide x, Wide y) { return x - y; });
            check_ends(a, b, a * b, [](Wide x, Wide y) { return x * y; });
            check_ends(a, b, quotient(a, b), divided);
            check_ends(a, b, remainder(a, b),
                       [](Wide x, Wide y) { return y == 0 ? 0 : x - divided(x, y) * y; });
            // and once more: an end that is infinite by mistake stays so
            Interval difference = Interval::single(0) - a;
            check_ends(difference, b, difference + b, [](Wide x, Wide y) { return x + y; });
        }
}

TEST_CASE("a saturated int64 that is subtracted leaves the bounds right") {
    // found by the random expressions: 5 - (x + the least int64) was taken to be the greatest
    Expr least =
        make_call(Int(64), intrinsic::rounding_shift_left,
                  {make_int(Int(64), -8), make_variable(Int(64), "shift")}, CallKind::Intrinsic);
    Expr x = make_variable(Int(64), "x");
    Facts facts;
    facts.bound("x", {8, 10});
    facts.bound("shift", {28391, 28391});
    Expr e = make_binary(Op::Sub, make_int(Int(64), 5), make_binary(Op::Add, x, least));
    for (int64_t value : {8, 9, 10}) {
        // 5 - value + 2^63, which int64 holds
        auto result = static_cast<int64_t>(Wide{5} - value - INT64_MIN);
        CHECK(constant_bounds(e, facts).contains(result));
    }
}

TEST_CASE("a variable that is known to be the largest int64 may be less than a uint64") {
    Facts facts;
    facts.bound("x", {INT64_MAX, INT64_MAX});
    facts.bound("y", {INT64_MIN, INT64_MIN});
    const Expr x = make_variable(Int(64), "x"), y = make_variable(Int(64), "y"),
               large = make_variable(UInt(64), "large");
    const Expr less = make_binary(Op::LT, make_cast(UInt(64), x), large);
    CHECK(to_string(simplify(less, facts)) == to_string(less));
    CHECK(constant_bounds(x, facts).contains(INT64_MAX));
    CHECK(constant_bounds(y, facts).contains(INT64_MIN));
    CHECK(constant_bounds(make_binary(Op::Max, x, y), facts).contains(INT64_MAX));
}
