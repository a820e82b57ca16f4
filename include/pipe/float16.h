#pragma once
// float16_t, bfloat16_t: 16-bit floating-point numbers.

#include <bit>
#include <compare>
#include <cstdint>
#include <type_traits>

namespace Pipe {

namespace detail {

/// A number of 1 + `Exponent` + `Mantissa` = 16 bits in IEEE layout. Conversions to it and its
/// arithmetic round to nearest, ties to even; results that are too large become infinite.
template <int Exponent, int Mantissa> class SmallFloat {
    static_assert(Exponent + Mantissa == 15);
    static constexpr int least_exponent = 2 - (1 << (Exponent - 1));
    static constexpr uint16_t infinity_bits = ((1u << Exponent) - 1) << Mantissa;

    uint16_t bits_ = 0;

    static constexpr double power_of_two(int n) {  // of a normal double
        return std::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52);
    }

    static constexpr uint16_t round(double value) {
        auto bits = std::bit_cast<uint64_t>(value);
        auto sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
        int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
        uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
        if (exponent == 1024)
            return static_cast<uint16_t>(
                sign | infinity_bits |
                (fraction ? 1u << (Mantissa - 1) | fraction >> (52 - Mantissa) : 0));
        int place = exponent < least_exponent ? least_exponent : exponent;
        int shift = 52 - Mantissa + (place - exponent);
        if (shift > 54)
            return sign;  // less than half of the smallest number
        uint64_t significand = uint64_t{1} << 52 | fraction;
        uint64_t kept = significand >> shift, lost = significand - (kept << shift);
        uint64_t half = uint64_t{1} << (shift - 1);
        kept += lost > half || (lost == half && (kept & 1));
        uint64_t magnitude = (static_cast<uint64_t>(place - least_exponent) << Mantissa) + kept;
        return static_cast<uint16_t>(sign |
                                     (magnitude < infinity_bits ? magnitude : infinity_bits));
    }

  public:
    constexpr SmallFloat() = default;
    constexpr explicit SmallFloat(double value) : bits_(round(value)) {}
    constexpr explicit SmallFloat(float value) : SmallFloat(static_cast<double>(value)) {}
    constexpr explicit SmallFloat(int value) : SmallFloat(static_cast<double>(value)) {}

    constexpr explicit operator double() const {
        uint64_t sign = static_cast<uint64_t>(bits_ >> 15) << 63;
        int exponent = (bits_ & 0x7fff) >> Mantissa;
        uint64_t fraction = bits_ & ((1u << Mantissa) - 1);
        if (exponent == (1 << Exponent) - 1)
            return std::bit_cast<double>(sign | uint64_t{0x7ff} << 52 |
                                         fraction << (52 - Mantissa));
        if (exponent > 0)
            fraction += 1u << Mantissa;
        else
            exponent = 1;
        double magnitude =
            static_cast<double>(fraction) * power_of_two(least_exponent - Mantissa + exponent - 1);
        return std::bit_cast<double>(sign | std::bit_cast<uint64_t>(magnitude));
    }
    constexpr explicit operator float() const {
        return static_cast<float>(static_cast<double>(*this));
    }
    constexpr explicit operator int() const { return static_cast<int>(static_cast<double>(*this)); }

    static constexpr SmallFloat make_from_bits(uint16_t bits) {
        SmallFloat result;
        result.bits_ = bits;
        return result;
    }
    static constexpr SmallFloat make_zero(bool positive = true) {
        return make_from_bits(positive ? 0 : 0x8000);
    }
    static constexpr SmallFloat make_infinity(bool positive = true) {
        return make_from_bits(static_cast<uint16_t>(infinity_bits | (positive ? 0 : 0x8000)));
    }
    static constexpr SmallFloat make_negative_zero() { return make_zero(false); }
    static constexpr SmallFloat make_negative_infinity() { return make_infinity(false); }
    static constexpr SmallFloat make_nan() {
        return make_from_bits(static_cast<uint16_t>(infinity_bits | 1u << (Mantissa - 1)));
    }
    constexpr uint16_t to_bits() const { return bits_; }

    constexpr bool is_nan() const { return (bits_ & 0x7fff) > infinity_bits; }
    constexpr bool is_infinity() const { return (bits_ & 0x7fff) == infinity_bits; }
    constexpr bool is_negative() const { return (bits_ & 0x8000) != 0; }
    constexpr bool is_zero() const { return (bits_ & 0x7fff) == 0; }

    // The layout of the bits.
    static constexpr int mantissa_bits = Mantissa;
    static constexpr uint16_t mantissa_mask = (1u << Mantissa) - 1;
    static constexpr uint16_t exponent_mask = infinity_bits;
    static constexpr uint16_t sign_mask = 0x8000;

    constexpr SmallFloat operator-() const {
        return make_from_bits(static_cast<uint16_t>(bits_ ^ 0x8000));
    }
    // A float has more than twice as many significant bits, so rounding twice equals rounding once.
    friend constexpr SmallFloat operator+(SmallFloat a, SmallFloat b) {
        return SmallFloat(static_cast<float>(a) + static_cast<float>(b));
    }
    friend constexpr SmallFloat operator-(SmallFloat a, SmallFloat b) {
        return SmallFloat(static_cast<float>(a) - static_cast<float>(b));
    }
    friend constexpr SmallFloat operator*(SmallFloat a, SmallFloat b) {
        return SmallFloat(static_cast<float>(a) * static_cast<float>(b));
    }
    friend constexpr SmallFloat operator/(SmallFloat a, SmallFloat b) {
        return SmallFloat(static_cast<float>(a) / static_cast<float>(b));
    }
    constexpr SmallFloat &operator+=(SmallFloat b) { return *this = *this + b; }
    constexpr SmallFloat &operator-=(SmallFloat b) { return *this = *this - b; }
    constexpr SmallFloat &operator*=(SmallFloat b) { return *this = *this * b; }
    constexpr SmallFloat &operator/=(SmallFloat b) { return *this = *this / b; }

    friend constexpr bool operator==(SmallFloat a, SmallFloat b) {
        return static_cast<float>(a) == static_cast<float>(b);
    }
    friend constexpr auto operator<=>(SmallFloat a, SmallFloat b) {
        return static_cast<float>(a) <=> static_cast<float>(b);
    }
};

}  // namespace detail

/// IEEE half precision: 5 exponent bits, 11 significant bits; up to 65504.
using float16_t = detail::SmallFloat<5, 10>;
/// The upper half of a float: 8 exponent bits, 8 significant bits.
using bfloat16_t = detail::SmallFloat<8, 7>;

}  // namespace Pipe
