#pragma once
// Intervals of integers with constant ends, and their arithmetic.

#include <cstdint>

#include <pipe/type.h>

namespace Pipe::ir {

/// All integers from lo to hi. The ends of int64 stand for infinity. (poly::Range ends much earlier, so that its users
/// may compute with sizes and differences of ends as they are; here, comparisons of any two numbers of int64 must fold.)
struct ConstantInterval {
    static constexpr int64_t minus_infinity = INT64_MIN, plus_infinity = INT64_MAX;
    int64_t lo = minus_infinity, hi = plus_infinity;

    ConstantInterval() = default;
    /// The values from lo to hi. Because nothing is at least plus infinity, or at most minus
    /// infinity, an end at the opposite extreme of int64 is moved by one.
    ConstantInterval(int64_t first, int64_t last)
        : lo(first == plus_infinity ? first - 1 : first),
          hi(last == minus_infinity ? last + 1 : last) {}

    static ConstantInterval everything() { return {}; }
    static ConstantInterval single(int64_t value) { return {value, value}; }
    /// The range of a lane of the type; unbounded for int32 and int64.
    static ConstantInterval of_type(Type type);

    bool has_lo() const { return lo != minus_infinity; }
    bool has_hi() const { return hi != plus_infinity; }
    bool is_single() const { return lo == hi; }
    bool empty() const { return lo > hi; }
    bool contains(int64_t value) const { return lo <= value && value <= hi; }
    bool within(const ConstantInterval &other) const { return lo >= other.lo && hi <= other.hi; }
    bool operator==(const ConstantInterval &) const = default;
};

// The smallest interval that holds every result; ends that leave int64 become infinite.
ConstantInterval operator+(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval operator-(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval operator*(const ConstantInterval &a, const ConstantInterval &b);
/// Of a division that rounds down, with x / 0 = 0.
ConstantInterval quotient(const ConstantInterval &a, const ConstantInterval &b);
/// Of the remainder of that division; it is never negative, and x % 0 = 0.
ConstantInterval remainder(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval smaller(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval larger(const ConstantInterval &a, const ConstantInterval &b);

ConstantInterval hull(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval intersection(const ConstantInterval &a, const ConstantInterval &b);

}  // namespace Pipe::ir
