#include "region/narrow_interval.h"

#include <algorithm>

#include "region/conditions.h"

namespace Pipe::region {

using namespace ir;

Interval type_range(Type t) {
    if (t.is_float() || !t.is_int_or_uint())
        return Interval::everything();
    if (t.bits() <= 16)
        return {make_int(t, t.min_int()), make_int(t, t.max_int())};
    if (t.is_uint())
        return {make_int(t, 0), Expr()};
    return Interval::everything();
}

int64_t largest_value(Type t, const Interval &i) {
    int64_t type_limit = t.bits() < 64 ? t.max_int() : unknown_value, value = 0;
    bool known = as_const_int(i.max, &value) && value >= 0;
    return known ? std::min(value, type_limit) : type_limit;
}

namespace {

/// Unsigned operations whose result is at most one of the operands, whatever the other is: hash %
/// 16u, min(hash, 15u), hash / 2u.
Interval shrinking(const Expr &e, const Interval &a, const Interval &b) {
    Type t = e.type().element_of();
    int64_t most = largest_value(t, a), divisor = largest_value(t, b), least = 0,
            hi = unknown_value;
    if (e->op == Op::Min) {
        hi = std::min(most, divisor);
    } else if (e->op == Op::Div && as_const_int(b.min, &least) && least > 0) {
        hi = most == unknown_value ? unknown_value : most / least;
    } else if (e->op == Op::Mod) {  // x % 0 = 0
        bool bounded = divisor != unknown_value;
        hi = std::min(most, bounded ? std::max<int64_t>(divisor - 1, 0) : unknown_value);
        if (b.max.defined() && !as_const_int(b.max, nullptr))
            return {make_int(t, 0), sub(greater(b.max, make_int(t, 1)), make_int(t, 1))};
    }
    return hi == unknown_value ? type_range(t) : Interval{make_int(t, 0), make_int(t, hi)};
}

}  // namespace

Interval narrow_arithmetic(const Expr &e, const Interval &a, const Interval &b) {
    Type t = e.type().element_of();
    int64_t a0, a1, b0, b1;
    bool constant = t.bits() <= 32 && as_const_int(a.min, &a0) && as_const_int(a.max, &a1) &&
                    as_const_int(b.min, &b0) && as_const_int(b.max, &b1);
    if (!constant)
        return t.is_uint() ? shrinking(e, a, b) : type_range(t);
    int64_t lo, hi;
    switch (e->op) {
    case Op::Add:
        lo = a0 + b0, hi = a1 + b1;
        break;
    case Op::Sub:
        lo = a0 - b1, hi = a1 - b0;
        break;
    case Op::Mul: {
        auto [least, most] = std::minmax({a0 * b0, a0 * b1, a1 * b0, a1 * b1});
        lo = least, hi = most;
        break;
    }
    case Op::Min:
        lo = std::min(a0, b0), hi = std::min(a1, b1);
        break;
    case Op::Max:
        lo = std::max(a0, b0), hi = std::max(a1, b1);
        break;
    case Op::Div:
        if (b0 != b1 || b0 <= 0 || a0 < 0)
            return type_range(t);
        lo = a0 / b0, hi = a1 / b0;
        break;
    case Op::Mod:
        if (b0 <= 0)
            return type_range(t);
        lo = 0, hi = b1 - 1;
        break;
    default:
        return type_range(t);
    }
    if (!t.can_represent(lo) || !t.can_represent(hi))
        return type_range(t);
    return {make_int(t, lo), make_int(t, hi)};
}

}  // namespace Pipe::region
