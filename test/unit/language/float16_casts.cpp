// Casts between 16-bit floats and other numbers: of all numbers of the formats, and of integers where rounding
// is hard.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "float16.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

/// Integers with few significant bits at all places, and those next to them: where rounding is hard.
template <typename T> std::vector<T> hard_integers() {
    using L = std::numeric_limits<T>;
    std::vector<T> values{L::min(), L::max(), 0};
    for (int64_t bits : {1, 3, 5, 257, 259, 511, 513, 515, 2049, 2051, 4095, 4097, 4099, 65519,
                         65535, 16777217, 33554431})
        for (int place = 0; place < 63; place++)
            for (int beside : {-1, 0, 1}) {
                const __int128 wide = (static_cast<__int128>(bits) << place) + beside;
                for (__int128 value : {wide, -wide})
                    if (value >= L::min() && value <= L::max())
                        values.push_back(static_cast<T>(value));
            }
    return values;
}

template <typename T> void check_casts_from() {
    INFO("from " << to_string(type_of<T>()));
    const std::vector<T> values = hard_integers<T>();
    const auto n = static_cast<int>(values.size());
    Buffer<T> in(n);
    std::copy(values.begin(), values.end(), in.begin());
    evaluate_in_all_ways<float16_t>(
        n, [&](Var x) { return cast<float16_t>(in(x)); },
        [&](int i, float16_t got) { return got.to_bits() == nearest<float16_t>(in(i)); });
    evaluate_in_all_ways<bfloat16_t>(
        n, [&](Var x) { return cast<bfloat16_t>(in(x)); },
        [&](int i, bfloat16_t got) { return got.to_bits() == nearest<bfloat16_t>(in(i)); });
    evaluate_in_all_ways<float>(
        n, [&](Var x) { return cast<float>(in(x)); },
        [&](int i, float got) { return got == static_cast<float>(in(i)); });
    evaluate_in_all_ways<double>(
        n, [&](Var x) { return cast<double>(in(x)); },
        [&](int i, double got) { return got == static_cast<double>(in(i)); });
}

/// Casts of all numbers of F to T: of those that fit, and saturated.
template <typename F, typename T> void check_casts_to() {
    INFO(to_string(type_of<F>()) << " to " << to_string(type_of<T>()));
    const Buffer<F> all = all_numbers<F>();
    // Both are powers of two, or 0, so they are floats; the upper one does not fit any more.
    const double low = static_cast<double>(std::numeric_limits<T>::min());
    const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
    auto number = [&](int i) { return std::trunc(static_cast<double>(all(i))); };
    evaluate_in_all_ways<T>(
        65536,
        [&](Var x) {
            Expr value = cast<double>(all(x));
            return cast<T>(select(value > low - 1 && value < above, all(x), F(0.0)));
        },
        [&](int i, T got) {
            const bool fits =
                number(i) >= low && number(i)<above &&static_cast<double>(all(i))> low - 1;
            return got == (fits ? static_cast<T>(number(i)) : T{0});
        });
    evaluate_in_all_ways<T>(
        65536, [&](Var x) { return saturating_cast<T>(select(is_nan(all(x)), F(0.0), all(x))); },
        [&](int i, T got) {
            if (all(i).is_nan())
                return got == 0;
            return got == (number(i) >= above ? std::numeric_limits<T>::max()
                           : number(i) <= low ? std::numeric_limits<T>::min()
                                              : static_cast<T>(number(i)));
        });
}

template <typename F> void check_casts_to_all() {
    check_casts_to<F, int8_t>();
    check_casts_to<F, uint8_t>();
    check_casts_to<F, int16_t>();
    check_casts_to<F, uint16_t>();
    check_casts_to<F, int32_t>();
    check_casts_to<F, uint32_t>();
    check_casts_to<F, int64_t>();
    check_casts_to<F, uint64_t>();
}

}  // namespace

TEST_CASE("casts of integers to floats round once", "[float16]") {
    check_casts_from<int8_t>();
    check_casts_from<uint8_t>();
    check_casts_from<int16_t>();
    check_casts_from<uint16_t>();
    check_casts_from<int32_t>();
    check_casts_from<uint32_t>();
    check_casts_from<int64_t>();
    check_casts_from<uint64_t>();
}

TEST_CASE("casts of 16-bit floats to integers", "[float16]") {
    check_casts_to_all<float16_t>();
    check_casts_to_all<bfloat16_t>();
}

TEST_CASE("doubles and floats halfway between 16-bit floats, and next to that", "[float16]") {
    auto check = [](auto format) {
        using F = decltype(format);
        Buffer<double> in(3 * 65536);
        Buffer<uint16_t> want(3 * 65536);
        for (int i = 0; i < 65536; i++) {
            const F number = F::make_from_bits(static_cast<uint16_t>(i));
            const F next = F::make_from_bits(static_cast<uint16_t>(i + 1));
            double middle = static_cast<double>(number);
            if ((i & 0x7fff) < F::exponent_mask - 1)
                middle += (static_cast<double>(next) - middle) / 2;
            const double huge = i & 0x8000 ? -1e300 : 1e300;
            in(3 * i) = middle, in(3 * i + 1) = std::nextafter(middle, 0);
            in(3 * i + 2) = std::nextafter(middle, huge);
            for (int k = 3 * i; k < 3 * i + 3; k++) {
                want(k) = nearest<F>(in(k));
                if (!std::isnan(in(k)))
                    REQUIRE(F(in(k)).to_bits() == want(k));
            }
        }
        auto right = [&](int k, F got) {
            return std::isnan(in(k)) ? got.is_nan() : got.to_bits() == want(k);
        };
        evaluate_in_all_ways<F>(
            3 * 65536, [&](Var x) { return cast<F>(in(x)); }, right);
        evaluate_in_all_ways<F>(
            3 * 65536, [&](Var x) { return cast<F>(cast<float>(in(x))); },
            [&](int k, F got) {
                const auto single = static_cast<float>(in(k));
                return std::isnan(single) ? got.is_nan() : got.to_bits() == nearest<F>(single);
            });
    };
    check(float16_t());
    check(bfloat16_t());
}
