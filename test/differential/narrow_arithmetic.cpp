// Arithmetic on int of values that fit into 16 bits, for all pairs of bytes, against C++ (lower/narrow_integers.h).
#include <pipe/pipe.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <catch2/catch_test_macros.hpp>

using namespace Pipe;

namespace {

/// Pairs of T for which `f` and `expected` differ, of all.
template <typename T, typename R, typename F, typename G> int wrong_pairs(F &&f, G &&expected) {
    constexpr int low = std::numeric_limits<T>::min(), count = 256;
    Var x("x"), y("y");
    Buffer<T> numbers(count);
    numbers.fill([&](int i) { return static_cast<T>(low + i); });
    Func out("out");
    out(x, y) = cast<R>(f(cast<int>(numbers(x)), cast<int>(numbers(y))));
    out.vectorize(x, 64);
    const Buffer<R> result = out.realize({count, count});
    int wrong = 0;
    for (int j = 0; j < count; ++j)
        for (int i = 0; i < count; ++i)
            wrong += result(i, j) != static_cast<R>(expected(low + i, low + j));
    return wrong;
}

int down(int a, int b) {
    return a / b - (a % b < 0);
}

}  // namespace

TEST_CASE("narrow arithmetic: weights of colors need all of uint16", "[differential]") {
    CHECK(wrong_pairs<uint8_t, uint8_t>(
              [](const Expr &a, const Expr &b) { return (a * 66 + b * 129 + 128) >> 8; },
              [](int a, int b) { return (a * 66 + b * 129 + 128) >> 8; }) == 0);
    CHECK(wrong_pairs<uint8_t, uint8_t>(
              [](const Expr &a, const Expr &b) { return ((b * 112 - a * 74 + 128) >> 8) + 128; },
              [](int a, int b) { return ((b * 112 - a * 74 + 128) >> 8) + 128; }) == 0);
}

TEST_CASE("narrow arithmetic: just too large for 16 bits", "[differential]") {
    CHECK(wrong_pairs<uint8_t, int>([](const Expr &a, const Expr &b) { return a * b + b * 2; },
                                    [](int a, int b) { return a * b + b * 2; }) == 0);  // 65535
    CHECK(wrong_pairs<uint8_t, int>([](const Expr &a, const Expr &b) { return a * b + b * 3; },
                                    [](int a, int b) { return a * b + b * 3; }) == 0);
    CHECK(wrong_pairs<int8_t, int>([](const Expr &a, const Expr &b) { return a * b * 2; },
                                   [](int a, int b) { return a * b * 2; }) == 0);  // 32768
    CHECK(wrong_pairs<uint8_t, uint8_t>(
              [](const Expr &a, const Expr &b) { return (a * a + b * b) / 512; },
              [](int a, int b) { return (a * a + b * b) / 512; }) == 0);
}

TEST_CASE("narrow arithmetic: differences, quotients and remainders of either sign",
          "[differential]") {
    CHECK(wrong_pairs<uint8_t, int16_t>([](const Expr &a, const Expr &b) { return (a - b) / 3; },
                                        [](int a, int b) { return down(a - b, 3); }) == 0);
    CHECK(wrong_pairs<int8_t, int16_t>(
              [](const Expr &a, const Expr &b) { return (a * b) % 7 - (a >> 2); },
              [](int a, int b) { return a * b - 7 * down(a * b, 7) - (a >> 2); }) == 0);
    CHECK(wrong_pairs<uint8_t, float>([](const Expr &a, const Expr &b) { return a - b * 2; },
                                      [](int a, int b) { return a - b * 2; }) == 0);
    CHECK(wrong_pairs<uint8_t, uint8_t>(
              [](const Expr &a, const Expr &b) { return cast<uint32_t>(a) - cast<uint32_t>(b); },
              [](int a, int b) { return a - b; }) == 0);
}

TEST_CASE("narrow arithmetic: clamps, absolute values and comparisons", "[differential]") {
    CHECK(
        wrong_pairs<uint8_t, int>([](const Expr &a, const Expr &b) { return max(a * b, b) - 300; },
                                  [](int a, int b) { return std::max(a * b, b) - 300; }) == 0);
    CHECK(wrong_pairs<uint8_t, uint8_t>(
              [](const Expr &a, const Expr &b) { return clamp(a * 2 - b, 0, 255); },
              [](int a, int b) { return std::clamp(a * 2 - b, 0, 255); }) == 0);
    CHECK(wrong_pairs<uint8_t, uint8_t>(
              [](const Expr &a, const Expr &b) { return abs(a - b) + absd(a, b * 256) / 256; },
              [](int a, int b) { return std::abs(a - b) + std::abs(a - b * 256) / 256; }) == 0);
    CHECK(wrong_pairs<int8_t, int>(
              [](const Expr &a, const Expr &b) {
                  return select(a * b < b * 200, a - b, (b - a) << 3);
              },
              [](int a, int b) { return a * b < b * 200 ? a - b : (b - a) * 8; }) == 0);
    CHECK(wrong_pairs<uint8_t, uint8_t>(
              [](const Expr &a, const Expr &b) { return select(a * 256 > b * 255, a, b); },
              [](int a, int b) { return a * 256 > b * 255 ? a : b; }) == 0);
}
