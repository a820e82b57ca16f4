#include "region/conditions.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_set>

#include "ir/constant_bounds.h"
#include "ir/fold.h"
#include "ir/integer_ops.h"
#include "ir/intrinsics.h"
#include "ir/linear.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "region/call_interval.h"
#include "region/narrow_interval.h"
#include "region/small_bound.h"

namespace Pipe::region {

using namespace ir;

namespace {

/// Types for which intervals are symbolic. Narrow and unsigned types may wrap: for these, only
/// constants are tracked.
bool symbolic_type(Type t) {
    return index_type(t) || t.is_float();
}

Expr binary(Op op, const Expr &a, const Expr &b) {
    if (!a.defined() || !b.defined())
        return Expr();
    switch (op) {
    case Op::Add:
        return add(a, b);
    case Op::Sub:
        return sub(a, b);
    case Op::Mul:
        return mul(a, b);
    case Op::Div:
        return div(a, b);
    case Op::Min:
        return lesser(a, b);
    case Op::Max:
        return greater(a, b);
    default:
        return make_binary(op, a, b);
    }
}

/// -1, 0, 1, where it is the same for all values of the variables, as that of a constant.
std::optional<int> sign_of(const Expr &e) {
    int64_t i = 0;
    if (as_const_int(e, &i))
        return i < 0 ? -1 : i > 0;
    if (e.defined() && e->op == Op::FloatImm)
        return e->float_value < 0 ? -1 : e->float_value > 0;
    if (!e.defined() || !index_type(e.type()))
        return std::nullopt;
    const ConstantInterval range = constant_bounds(e);
    if (range.has_lo() && range.lo > 0)
        return 1;
    return range.has_hi() && range.hi < 0 ? std::optional(-1) : std::nullopt;
}

class Bounds {
  public:
    /// \param by_period  remainders of intervals inside of one period have their ends, instead of those of the period: larger
    /// expressions, and no longer the same in each iteration of a loop
    explicit Bounds(const IntervalScope &scope, bool by_period = false)
        : scope_(scope), by_period_(by_period) {}

    Interval of(const Expr &e) {
        auto found = memo_.find(e.get());
        if (found != memo_.end())
            return found->second;
        Interval result = intersect(compute(e), scope_.known_bounds(e));
        result = {small_end(result.min, e, true), small_end(result.max, e, false)};
        memo_.emplace(e.get(), result);
        return result;
    }

  private:
    /// The interval of an operation may use each end of its operands several times, so ends can grow exponentially
    /// along a chain of operations that each use the previous one twice; proofs about such large expressions are not
    /// worth their time.
    static Expr small_end(const Expr &end, const Expr &e, bool is_min) {
        return !end.defined() || end.same_as(e) ? end : small_bound(end, is_min);
    }

    Interval compute(const Expr &e) {
        switch (e->op) {
        case Op::IntImm:
        case Op::UIntImm:
        case Op::FloatImm:
            return Interval::point(e);
        case Op::Variable:
            return variable(e);
        case Op::Cast:
            return cast(e);
        case Op::Select:
            return select(e);
        case Op::Call:
            return call(e);
        case Op::Load:
            return type_range(e.type());
        case Op::Let:
            return let(e);
        default:
            break;
        }
        if (is_binary(e->op) && !is_comparison(e->op) && e->op != Op::And && e->op != Op::Or)
            return arithmetic(e);
        return type_range(e.type());
    }

    Interval variable(const Expr &e) {
        if (const Interval *found = scope_.find(e->name))
            return *found;
        return Interval::point(e);
    }

    Interval arithmetic(const Expr &e) {
        Interval a = of(e->a()), b = of(e->b());
        if (a.is_point() && b.is_point() && a.min.same_as(e->a()) && b.min.same_as(e->b()))
            return Interval::point(e);
        if (!symbolic_type(e.type()))
            return narrow_arithmetic(e, a, b);
        switch (e->op) {
        case Op::Add:
            return {binary(Op::Add, a.min, b.min), binary(Op::Add, a.max, b.max)};
        case Op::Sub:
            return {binary(Op::Sub, a.min, b.max), binary(Op::Sub, a.max, b.min)};
        case Op::Mul:
            return product(a, b);
        case Op::Div:
            return quotient(e.type(), a, b);
        case Op::Mod:
            return remainder(e.type(), a, b);
        case Op::Min:
            return {binary(Op::Min, a.min, b.min), tightest(a.max, b.max, lesser)};
        case Op::Max:
            return {tightest(a.min, b.min, greater), binary(Op::Max, a.max, b.max)};
        default:
            return Interval::everything();
        }
    }

    Interval product(const Interval &a, const Interval &b) {
        if (sign_of(a.min) && a.is_point())
            return scaled(b, a.min);
        if (sign_of(b.min) && b.is_point())
            return scaled(a, b.min);
        if (!a.bounded() || !b.bounded())
            return Interval::everything();
        if (a.is_point() && b.is_point())
            return Interval::point(mul(a.min, b.min));
        Expr corners[] = {mul(a.min, b.min), mul(a.min, b.max), mul(a.max, b.min),
                          mul(a.max, b.max)};
        Interval result = Interval::point(corners[0]);
        for (const Expr &c : corners)
            result = {lesser(result.min, c), greater(result.max, c)};
        return result;
    }

    Interval scaled(const Interval &a, const Expr &factor) {
        bool flip = *sign_of(factor) < 0;
        const Expr &lo = flip ? a.max : a.min, &hi = flip ? a.min : a.max;
        return {binary(Op::Mul, lo, factor), binary(Op::Mul, hi, factor)};
    }

    Interval quotient(Type type, const Interval &a, const Interval &b) {
        if (b.is_point()) {
            if (std::optional<int> sign = sign_of(b.min)) {
                if (*sign == 0)
                    return Interval::point(make_const(type, 0));
                const Expr &lo = *sign < 0 ? a.max : a.min, &hi = *sign < 0 ? a.min : a.max;
                return {binary(Op::Div, lo, b.min), binary(Op::Div, hi, b.min)};
            }
            if (a.is_point())
                return Interval::point(div(a.min, b.min));
            if (!a.bounded())
                return Interval::everything();
            // In a, the quotient is monotone; the divisor's sign gives the direction.
            Expr first = div(a.min, b.min), last = div(a.max, b.min);
            return {lesser(first, last), greater(first, last)};
        }
        // |a / b| <= |a| for every integer b.
        if (type.is_float() || !a.bounded())
            return Interval::everything();
        Expr zero = make_const(type, 0);
        return {lesser(a.min, sub(zero, a.max)), greater(a.max, sub(zero, a.min))};
    }

    Interval remainder(Type type, const Interval &a, const Interval &b) {
        if (type.is_float() || !b.bounded())
            return Interval::everything();
        if (a.is_point() && b.is_point())
            return Interval::point(mod(a.min, b.min));
        if (by_period_ && a.bounded() && b.is_point() && sign_of(b.min) == 1)
            return inside_of_period(a, b.min);
        Expr zero = make_const(type, 0), most = sub(b.max, make_const(type, 1));
        if (!b.is_point() || sign_of(b.min) != 1)  // |b| - 1, which is representable in the type
            most = greater(most, sub(make_int(type, -1), b.min));
        return {zero, greater(most, zero)};
    }

    static Interval inside_of_period(const Interval &a, const Expr &period) {
        const Type type = period.type();
        return {
            greater(make_const(type, 0), sub(a.min, mul(div(a.max, period), period))),
            lesser(sub(period, make_const(type, 1)), sub(a.max, mul(div(a.min, period), period)))};
    }

    Interval cast(const Expr &e) {
        Type to = e.type(), from = e->value().type();
        Interval a = of(e->value());
        if (a.is_point() && a.min.same_as(e->value()))
            return Interval::point(e);
        bool widens =
            from.is_int_or_uint() && to.is_int_or_uint() &&
            (from.is_uint() ? to.bits() > from.bits() : to.is_int() && to.bits() >= from.bits());
        // Indices are assumed not to overflow int32, and converted floats to be in range.
        if (from.is_uint() && from.bits() >= 32 && index_type(to) && to.bits() <= from.bits() &&
            !fits(to, a.max))
            return Interval::everything();
        if (from.is_int() && index_type(to) && (wraps(to, a.min) || wraps(to, a.max)))
            return Interval::everything();
        if (widens || to.is_float() || index_type(to))
            return {cast_end(to, a.min), cast_end(to, a.max)};
        Expr lo = a.min.defined() ? simplify(a.min) : Expr(),
             hi = a.max.defined() ? simplify(a.max) : Expr();
        if (from.is_float()) {
            if (lo.defined() && hi.defined() && lo->op == Op::FloatImm && hi->op == Op::FloatImm &&
                lo->float_value > static_cast<double>(to.min_int()) - 1 &&
                hi->float_value < static_cast<double>(to.max_int()) + 1)
                return {make_int(to, static_cast<int64_t>(lo->float_value)),
                        make_int(to, static_cast<int64_t>(hi->float_value))};
            return type_range(to);
        }
        int64_t least, most;
        if (as_const_int(lo, &least) && as_const_int(hi, &most) && to.can_represent(least) &&
            to.can_represent(most))
            return {make_int(to, least), make_int(to, most)};
        if (always_fits(to, lo) && always_fits(to, hi))
            return {cast_end(to, lo), cast_end(to, hi)};
        return type_range(to);
    }

    /// An interval that holds for all values of the variables.
    static bool always_fits(Type to, const Expr &end) {
        if (!end.defined())
            return false;
        ConstantInterval range = constant_bounds(end);
        return range.has_lo() && range.has_hi() && to.can_represent(range.lo) &&
               to.can_represent(range.hi);
    }

    /// False if an end is unknown_value or a constant that wraps.
    static bool fits(Type to, const Expr &end) {
        if (!end.defined())
            return false;
        Expr e = simplify(end);
        return (e->op != Op::IntImm && e->op != Op::UIntImm) ||
               static_cast<uint64_t>(e->int_value) <= static_cast<uint64_t>(to.max_int());
    }

    static bool wraps(Type to, const Expr &end) {
        int64_t value = 0;
        return end.defined() && as_const_int(simplify(end), &value) && !to.can_represent(value);
    }

    static Expr cast_end(Type to, const Expr &end) {
        return end.defined() ? simplify(make_cast(to, end)) : Expr();
    }

    /// Combines two bounds of the same value with lesser() or greater(). If the result would be large,
    /// the smaller one of the two alone: it is a bound, too.
    static Expr tightest(const Expr &a, const Expr &b,
                         Expr (*combine)(const Expr &, const Expr &)) {
        constexpr int large = 500;
        if (!a.defined() || !b.defined())
            return a.defined() ? a : b;
        const bool a_is_small = is_small_tree(a, large), b_is_small = is_small_tree(b, large);
        if (a_is_small && b_is_small)
            return combine(a, b);
        return b_is_small ? b : a;
    }

    /// The interval of the second operand if the condition holds, or of the third if it does not.
    /// The condition narrows the variables in the arm, so expressions shared with other arms are
    /// analyzed again: not if they are large.
    Interval arm(const Expr &e, bool holds) {
        const Expr &value = e->args[holds ? 1 : 2];
        constexpr int few = 400;
        return is_small_tree(e, few) ? bounds_of(value, narrowed(scope_, e->args[0], holds))
                                     : of(value);
    }

    Interval select(const Expr &e) {
        Interval t = arm(e, true), f = arm(e, false);
        if (t.is_point() && f.is_point() && t.min.same_as(e->if_true()) &&
            f.min.same_as(e->if_false()) && bounds_independent(e->condition()))
            return Interval::point(e);
        return hull(t, f);
    }

    /// Whether neither variables of the scope nor data are read.
    bool bounds_independent(const Expr &e) {
        return !contains(e, [&](const ExprNode &n) {
            return n.op == Op::Load || (n.op == Op::Call && n.call_kind != CallKind::Intrinsic) ||
                   (n.op == Op::Variable && scope_.contains(n.name));
        });
    }

    Interval let(const Expr &e) {
        IntervalScope inner = scope_;
        inner.push(e->name, of(e->value()));
        return bounds_of(e->body(), inner);
    }

    Interval call(const Expr &e) {
        if (e->call_kind == CallKind::PureExtern && rounds(e->name)) {
            Interval a = of(e->args[0]);
            if (a.is_point() && a.min.same_as(e->args[0]))
                return Interval::point(e);
            auto end = [&](const Expr &x) { return x.defined() ? with_args(e, {x}) : x; };
            return {end(a.min), end(a.max)};
        }
        if (e->call_kind == CallKind::PureExtern && e->args.size() == 1 && is_rising(e->name)) {
            Interval a = of(e->args[0]);
            return a.is_point() && a.min.same_as(e->args[0]) ? Interval::point(e) : rising(e, a);
        }
        if (e->call_kind == CallKind::Func)
            if (const Interval *values = scope_.find(values_name(e->name, e->index)))
                return *values;
        if (e->call_kind == CallKind::Extern && e->name == extern_function::print)
            return of(e->args[1]);
        if (e->call_kind == CallKind::Extern && e->name == extern_function::require)
            return arm(e, true);
        if (e->call_kind == CallKind::PureExtern && all_points(e))
            return Interval::point(e);
        if (e->call_kind != CallKind::Intrinsic)
            return type_range(e.type());
        const std::string &name = e->name;
        if (is_integer_op(e)) {
            std::vector<Interval> args;
            for (const Expr &arg : e->args)
                args.push_back(of(arg));
            return all_points(e) ? Interval::point(e) : integer_op(e, args);
        }
        if (name == intrinsic::likely || name == intrinsic::strict_float) {
            Interval a = of(e->args[0]);
            if (a.is_point() && a.min.same_as(e->args[0]))
                return Interval::point(e);
            if (name == intrinsic::likely)
                return a;
            auto strict = [&](const Expr &end) {
                return !end.defined() || is_constant(end) ? end : with_args(e, {end});
            };
            return {strict(a.min), strict(a.max)};
        }
        if (name == intrinsic::promise_clamped) {
            Bounds promised(scope_, true);
            return intersect(of(e->args[0]),
                             {promised.of(e->args[1]).min, promised.of(e->args[2]).max});
        }
        if (name == intrinsic::abs)
            return absolute(e, of(e->args[0]));
        if (name == intrinsic::absd && symbolic_type(e->args[0].type())) {
            Interval a = of(e->args[0]), b = of(e->args[1]);
            if (a.bounded() && b.bounded())
                return {make_const(e.type(), 0),
                        make_cast(e.type(), greater(sub(a.max, b.min), sub(b.max, a.min)))};
            return type_range(e.type());
        }
        if (name == intrinsic::scatter_gather)
            return several(e);
        if (name == intrinsic::shift_right || name == intrinsic::shift_left)
            return shift(e);
        if (name == intrinsic::bitwise_and)
            return masked(e);
        if (name == intrinsic::bitwise_not && index_type(e.type())) {
            Interval a = of(e->args[0]);
            Expr all = make_int(e.type(), -1);
            return {binary(Op::Sub, all, a.max), binary(Op::Sub, all, a.min)};
        }
        if (name == intrinsic::if_then_else)
            return hull(arm(e, true), arm(e, false));
        return type_range(e.type());
    }

    /// Whether no argument depends on variables of the scope.
    bool all_points(const Expr &e) {
        return std::all_of(e->args.begin(), e->args.end(), [&](const Expr &arg) {
            Interval a = of(arg);
            return a.is_point() && a.min.same_as(arg);
        });
    }

    Interval several(const Expr &e) {
        Interval all = of(e->args[0]);
        for (const Expr &arg : e->args)
            all = hull(all, of(arg));
        return all;
    }

    /// Functions of one argument that are non-decreasing and defined everywhere.
    static bool rounds(const std::string &name) {
        for (const char *function : {"floor_", "ceil_", "round_", "trunc_"})
            if (name.starts_with(function))
                return true;
        return false;
    }

    /// For either sign, a value is monotone in the amount by which it is shifted.
    Interval shift(const Expr &e) {
        if (all_points(e))
            return Interval::point(e);
        const Interval a = of(e->args[0]), by = of(e->args[1]);
        const ConstantInterval lowest = by.bounded() ? constant_bounds(by.min) : ConstantInterval(),
                               highest =
                                   by.bounded() ? constant_bounds(by.max) : ConstantInterval();
        const bool known = lowest.has_lo() && highest.has_hi();
        const int64_t least = known ? lowest.lo : 0, most = known ? highest.hi : 0;
        Type t = e.type();
        if (t.is_uint() && e->name == intrinsic::shift_right && known && least >= 0 &&
            most < t.bits() && largest_value(t, a) != unknown_value)
            return {make_int(t, 0), make_int(t, largest_value(t, a) >> least)};
        if (!known || least < 0 || most > 30 || !index_type(e.type()))
            return type_range(e.type());
        Op op = e->name == intrinsic::shift_right ? Op::Div : Op::Mul;
        auto shifted = [&](int64_t amount) {
            Expr factor = make_int(e.type(), int64_t{1} << amount);
            return Interval{binary(op, a.min, factor), binary(op, a.max, factor)};
        };
        return least == most ? shifted(least) : hull(shifted(least), shifted(most));
    }

    Interval masked(const Expr &e) {
        int64_t mask = 0;
        for (const Expr &arg : e->args)
            if (as_const_int(arg, &mask) && mask >= 0)
                return {make_const(e.type(), 0), make_int(e.type(), mask)};
        if (e.type().is_uint())
            for (const Expr &arg : e->args)
                if (Interval a = of(arg); a.max.defined())
                    return {make_const(e.type(), 0), a.max};
        return type_range(e.type());
    }

    const IntervalScope &scope_;
    const bool by_period_;
    std::unordered_map<const ExprNode *, Interval> memo_;
};

}  // namespace

Interval bounds_of(const Expr &e, const IntervalScope &scope) {
    return Bounds(scope).of(e);
}

}  // namespace Pipe::region
