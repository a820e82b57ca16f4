// lerp of integers and bools against its definition in exact arithmetic.
#include <cmath>
#include <limits>

#include "integer_pairs.h"
#include "support/require_message.h"

using namespace Pipe;
using namespace integer_pairs;

TEST_CASE("lerp of integers by weights of as many bits is exact", "[fixed_point]") {
    for (int w : {0, 1, 77, 127, 128, 200, 254, 255}) {
        auto expected = [=](int a, int b) {
            return static_cast<int>(std::floor((a * (255.0 - w) + b * double(w)) / 255.0 + 0.5));
        };
        Expr weight = cast<uint8_t>(w);
        check_pairs<uint8_t, uint8_t>(
            "lerp", [=](Expr a, Expr b) { return lerp(a, b, weight); },
            [=](int a, int b) { return static_cast<uint8_t>(expected(a, b)); });
        check_pairs<int8_t, int8_t>(
            "lerp", [=](Expr a, Expr b) { return lerp(a, b, weight); },
            [=](int a, int b) { return static_cast<int8_t>(expected(a, b)); });
    }
    // All weights, at the ends of the range.
    check_pairs<uint8_t, uint8_t>(
        "lerp", [](Expr a, Expr w) { return lerp(a, cast<uint8_t>(255), w); },
        [](int a, int w) { return static_cast<uint8_t>((a * (255 - w) + 255 * w + 127) / 255); });
    check_pairs<uint16_t, uint16_t>(
        "lerp", [](Expr a, Expr w) { return lerp(a, cast<uint16_t>(1000), w); },
        [](uint64_t a, uint64_t w) {
            return static_cast<uint16_t>((a * (65535 - w) + 1000 * w + 32767) / 65535);
        });
    check_pairs<uint32_t, uint32_t>(
        "lerp", [](Expr a, Expr w) { return lerp(a, cast<uint32_t>(1000), w); },
        [](Wide a, Wide w) {
            const Wide m = 0xffffffff;
            return static_cast<uint32_t>((a * (m - w) + 1000 * w + m / 2) / m);
        });
    check_pairs<int32_t, int32_t, uint32_t>(
        "lerp", [](Expr a, Expr w) { return lerp(a, Expr(-5), w); },
        [](Wide a, Wide w) {
            const Wide m = 0xffffffff, low = Wide{1} << 31;
            return static_cast<int32_t>(((a + low) * (m - w) + (low - 5) * w + m / 2) / m - low);
        });
    check_pairs<uint64_t, uint64_t>(
        "lerp", [](Expr a, Expr w) { return lerp(a, cast<uint64_t>(1000), w); },
        [](uint64_t a, uint64_t w) {
            using U = unsigned __int128;
            const U m = UINT64_MAX;
            return static_cast<uint64_t>((U{a} * (m - w) + U{1000} * w + m / 2) / m);
        });
}

TEST_CASE("lerp by weights of other types", "[fixed_point]") {
    check_pairs<uint8_t, uint8_t>(
        "float weight", [](Expr a, Expr b) { return lerp(a, b, 0.25f); },
        [](int a, int b) {  // 0.25 * 255 = 63.75: 63
            return static_cast<uint8_t>((a * (255 - 63) + b * 63 + 127) / 255);
        });
    check_pairs<uint8_t, uint8_t, uint16_t>(
        "16-bit weight", [](Expr a, Expr w) { return lerp(a, cast<uint8_t>(200), w); },
        [](int64_t a, int64_t w) {
            return static_cast<uint8_t>((a * (65535 - w) + 200 * w + 32767) / 65535);
        });
    check_pairs<uint16_t, uint16_t, uint8_t>(
        "8-bit weight", [](Expr a, Expr w) { return lerp(a, cast<uint16_t>(200), w); },
        [](int64_t a, int64_t w) {
            w *= 257;
            return static_cast<uint16_t>((a * (65535 - w) + 200 * w + 32767) / 65535);
        });
    check_pairs<float, int16_t, uint8_t>(
        "float values, 8-bit weight",
        [](Expr a, Expr w) { return lerp(cast<float>(a), 8.0f, w / 255 * 255); },
        [](int16_t a, uint8_t w) { return w == 255 ? 8.0f : static_cast<float>(a); });
    check_pairs<uint8_t, uint8_t>(
        "bool values", [](Expr a, Expr w) { return cast<uint8_t>(lerp(a > 100, a > 200, w)); },
        [](int a, int w) { return static_cast<uint8_t>(w > 127 ? a > 200 : a > 100); });
    check_pairs<uint8_t, uint8_t>(
        "bool weight", [](Expr a, Expr b) { return lerp(a, b, a < b); },
        [](uint8_t a, uint8_t b) { return std::max(a, b); });
    CHECK(evaluate<double>(lerp(Expr(1.0), Expr(3.0), 0.25)) == 1.5);
    CHECK(evaluate<double>(lerp(Expr(1.0), Expr(3.0), cast<uint32_t>(Expr(0xffffffffu)))) == 3.0);
}

namespace {

/// lerp of Ts by every kind of W, against exact arithmetic.
template <typename T, typename W> void check_lerp() {
    using U = unsigned __int128;
    constexpr U whole = std::numeric_limits<W>::max();
    constexpr auto low = static_cast<Wide>(std::numeric_limits<T>::min());
    for (T one : {std::numeric_limits<T>::min(), T{0}, T{77}, std::numeric_limits<T>::max()}) {
        auto op = [&](const Expr &a, const Expr &w) { return lerp(a, cast<T>(Expr(one)), w); };
        auto expected = [&](Wide a, Wide w) {
            U weight = static_cast<U>(w);
            U sum = static_cast<U>(a - low) * (whole - weight) + static_cast<U>(one - low) * weight;
            return static_cast<T>(static_cast<Wide>((sum + whole / 2) / whole) + low);
        };
        check_pairs<T, T, W>("lerp", op, expected);
    }
}

template <typename T> void check_lerp_by_all_weights() {
    check_lerp<T, uint8_t>();
    check_lerp<T, uint16_t>();
    check_lerp<T, uint32_t>();
}

}  // namespace

TEST_CASE("lerp of integers by weights of any width is exact", "[fixed_point]") {
    check_lerp_by_all_weights<uint8_t>();
    check_lerp_by_all_weights<int8_t>();
    check_lerp_by_all_weights<uint16_t>();
    check_lerp_by_all_weights<int16_t>();
    check_lerp_by_all_weights<uint32_t>();
    check_lerp_by_all_weights<int32_t>();
    check_lerp<uint16_t, uint64_t>();
    check_lerp<int32_t, uint64_t>();
    // A weight between two of 16 bits.
    CHECK(evaluate<uint16_t>(lerp(cast<uint16_t>(0), cast<uint16_t>(Expr(65535)),
                                  cast<uint32_t>(Expr(int64_t{2164195328})))) == 33022);
}
