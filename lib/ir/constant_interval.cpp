#include "ir/constant_interval.h"

#include <algorithm>

#include "ir/linear.h"
#include "support/integers.h"

namespace Pipe::ir {
namespace {

constexpr int64_t minus_infinity = ConstantInterval::minus_infinity;
constexpr int64_t plus_infinity = ConstantInterval::plus_infinity;

int64_t clamp_to_int64(__int128 value) {
    if (value <= minus_infinity)
        return minus_infinity;
    return value >= plus_infinity ? plus_infinity : static_cast<int64_t>(value);
}

bool infinite(int64_t end) {
    return end == minus_infinity || end == plus_infinity;
}

/// An infinite end stays infinite, whatever is added to it.
int64_t add_ends(int64_t a, int64_t b) {
    if (infinite(a))
        return a;
    return infinite(b) ? b : clamp_to_int64(static_cast<__int128>(a) + b);
}

int64_t negate_end(int64_t a) {
    if (a == minus_infinity)
        return plus_infinity;
    return a == plus_infinity ? minus_infinity : -a;
}

int64_t multiply_ends(int64_t a, int64_t b) {
    if (a == 0 || b == 0)
        return 0;
    if (infinite(a) || infinite(b))
        return (a > 0) == (b > 0) ? plus_infinity : minus_infinity;
    return clamp_to_int64(static_cast<__int128>(a) * b);
}

}  // namespace

ConstantInterval ConstantInterval::of_type(Type type) {
    if (!type.is_int_or_uint() || has_no_overflow(type))
        return {};
    return {type.min_int(), type.bits() == 64 ? plus_infinity : type.max_int()};
}

ConstantInterval operator+(const ConstantInterval &a, const ConstantInterval &b) {
    return {add_ends(a.lo, b.lo), add_ends(a.hi, b.hi)};
}

ConstantInterval operator-(const ConstantInterval &a, const ConstantInterval &b) {
    return a + ConstantInterval{negate_end(b.hi), negate_end(b.lo)};
}

ConstantInterval operator*(const ConstantInterval &a, const ConstantInterval &b) {
    int64_t corners[] = {multiply_ends(a.lo, b.lo), multiply_ends(a.lo, b.hi),
                         multiply_ends(a.hi, b.lo), multiply_ends(a.hi, b.hi)};
    return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

ConstantInterval hull(const ConstantInterval &a, const ConstantInterval &b) {
    return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

ConstantInterval intersection(const ConstantInterval &a, const ConstantInterval &b) {
    return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)};
}

ConstantInterval quotient(const ConstantInterval &a, const ConstantInterval &b) {
    if (b.lo > 0) {  // rounds down, so it is monotone in both operands
        auto divide = [&](int64_t x, int64_t y, bool finite) {
            if (!finite)
                return x;
            return y == plus_infinity ? int64_t{x < 0 ? -1 : 0} : floor_div(x, y);
        };
        return {std::min(divide(a.lo, b.lo, a.has_lo()), divide(a.lo, b.hi, a.has_lo())),
                std::max(divide(a.hi, b.lo, a.has_hi()), divide(a.hi, b.hi, a.has_hi()))};
    }
    // |a / b| <= |a| for every b, 0 and -1 included.
    if (!a.has_lo() || !a.has_hi())
        return {};
    int64_t most = std::max(a.hi, -a.lo);
    return {-most, most};
}

ConstantInterval remainder(const ConstantInterval &a, const ConstantInterval &b) {
    ConstantInterval result{0, plus_infinity};
    if (b.has_lo() && b.has_hi())
        result.hi = std::max(int64_t{0}, std::max(b.hi, -b.lo) - 1);
    // Nothing to subtract: 0 <= a < b.
    if (b.lo > 0 && a.lo >= 0 && a.hi < b.lo)
        return a;
    if (a.lo >= 0 && b.lo > 0)
        result.hi = std::min(result.hi, a.hi);
    return result;
}

ConstantInterval smaller(const ConstantInterval &a, const ConstantInterval &b) {
    return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
}

ConstantInterval larger(const ConstantInterval &a, const ConstantInterval &b) {
    return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
}

}  // namespace Pipe::ir
