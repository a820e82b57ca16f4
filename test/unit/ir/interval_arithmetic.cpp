// Arithmetic of intervals, compared with all pairs of numbers in them.

#include <algorithm>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "ir/constant_interval.h"
#include "support/integers.h"

using namespace Pipe;
using ir::ConstantInterval;

namespace {

constexpr int64_t most = 7;  ///< ends beyond it are infinite

std::vector<ConstantInterval> intervals() {
    std::vector<ConstantInterval> all;
    for (int64_t lo = -most; lo <= most; lo++)
        for (int64_t hi = lo; hi <= most; hi++)
            all.push_back({lo == -most ? ConstantInterval::minus_infinity : lo,
                           hi == most ? ConstantInterval::plus_infinity : hi});
    return all;
}

/// Some numbers of an interval: all of those that end.
std::vector<int64_t> members(const ConstantInterval &a) {
    std::vector<int64_t> result;
    for (int64_t i = std::max(a.lo, -3 * most); i <= std::min(a.hi, 3 * most); i++)
        result.push_back(i);
    return result;
}

bool ends(const ConstantInterval &a) {
    return a.has_lo() && a.has_hi();
}

/// Checks that `result` holds f(x, y) for all pairs, and where both intervals end and `tight`, nothing else.
template <typename F, typename Op> void check_all(const Op &op, const F &f, bool tight) {
    for (const ConstantInterval &a : intervals())
        for (const ConstantInterval &b : intervals()) {
            const ConstantInterval result = op(a, b);
            int64_t lo = INT64_MAX, hi = INT64_MIN;
            for (int64_t x : members(a))
                for (int64_t y : members(b)) {
                    lo = std::min(lo, f(x, y));
                    hi = std::max(hi, f(x, y));
                }
            INFO("[" << a.lo << ", " << a.hi << "], [" << b.lo << ", " << b.hi << "]: ["
                     << result.lo << ", " << result.hi << "]");
            REQUIRE(result.lo <= lo);
            REQUIRE(result.hi >= hi);
            if (tight && ends(a) && ends(b)) {
                REQUIRE(result.lo == lo);
                REQUIRE(result.hi == hi);
            }
        }
}

}  // namespace

TEST_CASE("sums, products, minima and maxima of intervals are exact") {
    using I = const ConstantInterval &;
    check_all([](I a, I b) { return a + b; }, [](int64_t x, int64_t y) { return x + y; }, true);
    check_all([](I a, I b) { return a - b; }, [](int64_t x, int64_t y) { return x - y; }, true);
    check_all([](I a, I b) { return a * b; }, [](int64_t x, int64_t y) { return x * y; }, true);
    check_all(
        ir::smaller, [](int64_t x, int64_t y) { return std::min(x, y); }, true);
    check_all(
        ir::larger, [](int64_t x, int64_t y) { return std::max(x, y); }, true);
}

TEST_CASE("quotients and remainders of intervals hold all results") {
    auto divide = [](int64_t x, int64_t y) {
        return y == 0 ? 0 : y > 0 ? floor_div(x, y) : -floor_div(x, -y);
    };
    check_all(ir::quotient, divide, false);
    check_all(
        ir::remainder, [&](int64_t x, int64_t y) { return y == 0 ? 0 : x - divide(x, y) * y; },
        false);
    // By positive numbers, exactly.
    CHECK(ir::quotient({-7, 9}, {2, 4}) == ConstantInterval{-4, 4});
    CHECK(ir::remainder({0, 100}, {8, 8}) == ConstantInterval{0, 7});
    CHECK(ir::remainder({3, 5}, {8, 9}) == ConstantInterval{3, 5});
}

TEST_CASE("ends that leave int64 become infinite") {
    const ConstantInterval large{INT64_MAX - 5, INT64_MAX - 3};
    CHECK((large + ConstantInterval{1, 10}).hi == ConstantInterval::plus_infinity);
    CHECK((large + ConstantInterval{1, 10}).lo == INT64_MAX - 4);
    CHECK((large * ConstantInterval{-2, -2}).lo == ConstantInterval::minus_infinity);
}
