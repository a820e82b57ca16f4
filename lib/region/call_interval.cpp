#include "region/call_interval.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "ir/integer_ops.h"
#include "ir/simplify.h"
#include "region/conditions.h"
#include "region/narrow_interval.h"

namespace Pipe::region {

using namespace ir;

namespace {

Expr simplified(const Expr &e) {
    return e.defined() ? simplify(e) : e;
}

/// The value of a monotone operation with each argument at one of its ends; nothing if an end is
/// missing.
std::optional<Interval> at_corners(const Expr &e, const std::vector<Interval> &args) {
    std::vector<std::vector<Expr>> corners{{}};
    for (const Interval &arg : args) {
        if (!arg.bounded())
            return std::nullopt;
        std::vector<std::vector<Expr>> longer;
        for (const std::vector<Expr> &corner : corners)
            for (const Expr &end : {arg.min, arg.max}) {
                longer.push_back(corner);
                longer.back().push_back(end);
                if (arg.is_point())
                    break;
            }
        corners = std::move(longer);
    }
    Interval result;
    for (std::vector<Expr> &corner : corners) {
        Interval here = Interval::point(simplify(with_args(e, std::move(corner))));
        result = result.bounded() ? hull(result, here) : here;
    }
    return result;
}

}  // namespace

Interval integer_op(const Expr &e, const std::vector<Interval> &args) {
    std::vector<ConstantInterval> ranges;
    bool constant = true;
    for (const Interval &arg : args) {
        ConstantInterval range;
        constant &= as_const_int(simplified(arg.min), &range.lo);
        constant &= as_const_int(simplified(arg.max), &range.hi);
        ranges.push_back(range);
    }
    Type type = e.type();
    if (index_type(type) && !constant && is_monotone(e))
        if (std::optional<Interval> result = at_corners(e, args))
            return *result;
    ConstantInterval range = integer_op_range(e, ranges);
    Interval result = type_range(type);
    // The range of the type itself is no useful bound of an index.
    if (range.has_lo() && !(index_type(type) && range.lo == type.min_int()))
        result.min = make_int(type, range.lo);
    if (range.has_hi() && !(index_type(type) && range.hi == type.max_int()))
        result.max = make_int(type, range.hi);
    return result;
}

bool is_rising(const std::string &function) {
    return function.starts_with("sqrt_") || function.starts_with("exp_") ||
           function.starts_with("log_");
}

/// Non-decreasing functions, of which the last two are rounded: their ends are moved by more than
/// the rounding error. Outside its domain, a function returns NaN, which cannot be an index.
Interval rising(const Expr &e, const Interval &arg) {
    Type t = e.type();
    bool is_exp = e->name.starts_with("exp_"), is_log = e->name.starts_with("log_");
    auto end = [&](const Expr &x, double off) {
        if (!x.defined())
            return x;
        double least = is_log ? std::numeric_limits<float>::min() : 0;
        Expr value = with_args(e, {is_exp ? x : greater(x, make_float(t, least))});
        if (is_exp)
            return mul(value, make_float(t, 1 + off));
        return is_log ? add(value, make_float(t, off)) : value;
    };
    double slack = t.bits() == 16 ? 1e-2 : 1e-4;
    Interval result{end(arg.min, -slack), end(arg.max, slack)};
    if (!result.min.defined() && !is_log)
        result.min = make_float(t, 0);
    return result;
}

Interval absolute(const Expr &e, const Interval &arg) {
    Type from = e->args[0].type();
    Expr zero = make_const(from, 0);
    if (!arg.bounded())
        return {make_cast(e.type(), zero), Expr()};
    if (index_type(from) || from.is_float())
        return {make_cast(e.type(), zero),
                make_cast(e.type(), greater(arg.max, sub(zero, arg.min)))};
    int64_t lo = 0, hi = 0;
    if (from.is_uint() || !as_const_int(arg.min, &lo) || !as_const_int(arg.max, &hi))
        return type_range(e.type());
    return {make_const(e.type(), 0), make_int(e.type(), std::max(hi, -lo))};
}

}  // namespace Pipe::region
