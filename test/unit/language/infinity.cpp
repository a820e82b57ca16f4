// The ends of int32 as infinity: what the program computes without overflow has the right pixels.
#include <algorithm>
#include <cstdint>
#include <functional>

#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

using namespace Pipe;

namespace {

constexpr int first = -10, size = 40;

/// The pixels of `value`, by several schedules.
void check(const Expr &value, Func table, const std::function<int(int, int)> &expected) {
    for (int lanes : {1, 8}) {
        Func result("result");
        Var x("x"), y("y"), xo("xo"), xi("xi");
        result(x, y) = value;
        if (lanes > 1)
            result.split(x, xo, xi, lanes).vectorize(xi);
        if (lanes > 1 && table.defined())
            table.compute_at(result, xo);
        Buffer<int> pixels(size, size);
        pixels.set_min(first, first);
        result.realize(pixels);
        int wrong = 0;
        pixels.for_each_element([&](int i, int j) { wrong += pixels(i, j) != expected(i, j); });
        INFO(lanes << " lanes");
        CHECK(wrong == 0);
    }
}

bool is_found(int x, int y) {
    return (x - y) % 3 == 0;
}

}  // namespace

TEST_CASE("INT_MAX as infinity") {
    Var x("x"), y("y");
    Func table("table");
    table(x) = x * 3 + 1;
    const Expr found = select((x - y) % 3 == 0, x, INT32_MAX);
    auto value = [](int i, int j) { return is_found(i, j) ? i : INT32_MAX; };
    SECTION("in a comparison") {
        check(select(found < y - 2 * x, 1, 0), Func(),
              [&](int i, int j) { return value(i, j) < j - 2 * i ? 1 : 0; });
    }
    SECTION("in a comparison of differences") {
        check(select(found - max(y, 0) > x - 2, 7, 9), Func(),
              [&](int i, int j) { return value(i, j) - std::max(j, 0) > i - 2 ? 7 : 9; });
    }
    SECTION("in the minimum of a coordinate") {
        check(table(min(found, x + y)), table,
              [&](int i, int j) { return std::min(value(i, j), i + j) * 3 + 1; });
    }
    SECTION("in a coordinate that is clamped") {
        check(table(clamp(found, 0, 50) - y), table,
              [&](int i, int j) { return (std::clamp(value(i, j), 0, 50) - j) * 3 + 1; });
    }
    SECTION("minus infinity") {
        const Expr last = select((x - y) % 3 == 0, x, INT32_MIN);
        check(select(y - x < last, 1, 0), Func(),
              [&](int i, int j) { return j - i < (is_found(i, j) ? i : INT32_MIN) ? 1 : 0; });
    }
}
