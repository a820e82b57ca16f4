#include "poly/range.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "ir/intrinsics.h"
#include "ir/linear.h"

namespace Pipe::poly {

using ir::ExprNode;
using ir::Op;

namespace {

/// Limits the ends to [-infinite, infinite].
int64_t saturate(__int128 value) {
    return static_cast<int64_t>(std::clamp<__int128>(value, -Range::infinite, Range::infinite));
}

class Evaluator {
  public:
    explicit Evaluator(const Environment &names) : names_(names) {}

    Range operator()(const Expr &e) {
        auto found = done_.find(e.get());
        if (found != done_.end())
            return found->second;
        Range result = evaluate(e);
        done_.emplace(e.get(), result);
        return result;
    }

  private:
    Range evaluate(const Expr &e) {
        if (!ir::is_binary(e->op))
            return other(e);
        return ir::has_no_overflow(e->type) ? binary(e) : fitted(binary(e), e->type);
    }

    Range binary(const Expr &e) {
        auto arg = [&](size_t i) { return (*this)(e->args[i]); };
        switch (e->op) {
        case Op::Add:
            return arg(0) + arg(1);
        case Op::Sub:
            return arg(0) + arg(1) * -1;
        case Op::Mul:
            return product(arg(0), arg(1));
        case Op::Div:
            return quotient(arg(0), arg(1));
        case Op::Mod:
            return remainder(arg(0), arg(1));
        case Op::Min:
            return smaller(arg(0), arg(1));
        case Op::Max:
            return larger(arg(0), arg(1));
        default:
            return range_of(e->type);
        }
    }

    Range other(const Expr &e) {
        switch (e->op) {
        case Op::IntImm:
            return Range::point(e->int_value);
        case Op::UIntImm:
            return fitted(Range::point(static_cast<int64_t>(e->uint_value)), e->type);
        case Op::Variable: {
            auto found = names_.find(e->name);
            return found == names_.end() ? range_of(e->type) : found->second;
        }
        case Op::Cast:
            return cast(e->type, e->value());
        case Op::Select:
            return hull((*this)(e->if_true()), (*this)(e->if_false()));
        case Op::Call:
            return call(e);
        default:
            return range_of(e->type);
        }
    }

    Range cast(Type type, const Expr &value) {
        if (value.type().is_float())
            return intersect(truncated(real(value)), range_of(type));
        if (!value.type().is_int_or_uint())
            return range_of(type);
        return fitted((*this)(value), type);
    }

    /// A float expression between two numbers, inclusive; infinite if unknown.
    struct Real {
        double min = -HUGE_VAL, max = HUGE_VAL;
    };

    /// Rounding may have moved the ends outward slightly.
    static Range truncated(const Real &r) {
        auto end = [](double v, double sign) {
            const double limit = static_cast<double>(Range::infinite);
            v = std::clamp(v, -limit, limit);
            return static_cast<int64_t>(std::clamp(v + sign * 1e-6 * std::abs(v), -limit, limit));
        };
        return {end(r.min, -1), end(r.max, 1)};
    }

    Real real(const Expr &e) {
        auto found = reals_.find(e.get());
        if (found != reals_.end())
            return found->second;
        const Real result = evaluate_real(e);
        reals_.emplace(e.get(), result);
        return result;
    }

    Real evaluate_real(const Expr &e) {
        if (e->op == Op::FloatImm)
            return {e->float_value, e->float_value};
        if (e->op == Op::Cast && e->value().type().is_float())
            return real(e->value());
        if (e->op == Op::Cast) {
            const Range r = (*this)(e->value());
            return {r.min <= -Range::infinite ? -HUGE_VAL : static_cast<double>(r.min),
                    r.max >= Range::infinite ? HUGE_VAL : static_cast<double>(r.max)};
        }
        if (e->op == Op::Select) {
            const Real a = real(e->if_true()), b = real(e->if_false());
            return {std::min(a.min, b.min), std::max(a.max, b.max)};
        }
        if (e->args.size() != 2 || e->op == Op::Call)
            return {};
        const Real a = real(e->args[0]), b = real(e->args[1]);
        switch (e->op) {
        case Op::Add:
            return {a.min + b.min, a.max + b.max};
        case Op::Sub:
            return {a.min - b.max, a.max - b.min};
        case Op::Mul:
            return of_ends({a.min * b.min, a.min * b.max, a.max * b.min, a.max * b.max});
        case Op::Div:
            if (b.min <= 0 && b.max >= 0)
                return {};
            return of_ends({a.min / b.min, a.min / b.max, a.max / b.min, a.max / b.max});
        case Op::Min:
            return {std::min(a.min, b.min), b.max};  // if a is NaN: the second operand
        case Op::Max:
            return {b.min, std::max(a.max, b.max)};
        default:
            return {};
        }
    }

    static Real of_ends(std::initializer_list<double> ends) {
        for (double v : ends) {
            if (std::isnan(v))
                return {};
        }
        return {std::min(ends), std::max(ends)};
    }

    Range call(const Expr &e) {
        if (e->call_kind == ir::CallKind::Func) {
            auto found = names_.find(value_name(e->name, e->index));
            return found == names_.end() ? range_of(e->type) : found->second;
        }
        if (e->call_kind != ir::CallKind::Intrinsic)
            return range_of(e->type);
        if (e->name == ir::intrinsic::likely)
            return (*this)(e->args[0]);
        if (e->name == ir::intrinsic::promise_clamped) {
            Range limits = {(*this)(e->args[1]).min, (*this)(e->args[2]).max};
            return intersect((*this)(e->args[0]), limits);
        }
        if (e->name == ir::intrinsic::shift_left)
            return shifted(e);
        return range_of(e->type);
    }

    /// x << amount, where no bit gets lost.
    Range shifted(const Expr &e) {
        const Range amount = (*this)(e->args[1]);
        const int bits = e->type.bits() - (e->type.is_int() ? 1 : 0);
        if (amount.is_empty() || amount.min < 0 || amount.max >= bits)
            return range_of(e->type);
        const Range factors{int64_t{1} << amount.min, int64_t{1} << amount.max};
        const Range result = product((*this)(e->args[0]), factors);
        const int64_t limit = int64_t{1} << std::min(bits, 61);
        const bool fits = result.min >= (e->type.is_int() ? -limit : 0) && result.max < limit;
        return fits ? result : range_of(e->type);
    }

    const Environment &names_;
    std::unordered_map<const ExprNode *, Range> done_;
    std::unordered_map<const ExprNode *, Real> reals_;
};

}  // namespace

Range hull(const Range &a, const Range &b) {
    if (a.is_empty())
        return b;
    if (b.is_empty())
        return a;
    return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

Range intersect(const Range &a, const Range &b) {
    return {std::max(a.min, b.min), std::min(a.max, b.max)};
}

Range operator+(const Range &a, const Range &b) {
    if (a.is_empty() || b.is_empty())
        return Range::empty();
    const bool down = a.min <= -Range::infinite || b.min <= -Range::infinite;
    const bool up = a.max >= Range::infinite || b.max >= Range::infinite;
    return {down ? -Range::infinite : saturate(static_cast<__int128>(a.min) + b.min),
            up ? Range::infinite : saturate(static_cast<__int128>(a.max) + b.max)};
}

Range operator*(const Range &a, int64_t factor) {
    if (a.is_empty() || factor == 0)
        return a.is_empty() ? a : Range::point(0);
    Range result{saturate(static_cast<__int128>(a.min) * factor),
                 saturate(static_cast<__int128>(a.max) * factor)};
    if (factor < 0)
        std::swap(result.min, result.max);
    return result;
}

Range product(const Range &a, const Range &b) {
    if (!a.bounded() || !b.bounded()) {
        if (b.is_point() && b.bounded())
            return a * b.min;
        if (a.is_point() && a.bounded())
            return b * a.min;
        return {};
    }
    Range result = Range::empty();
    for (int64_t x : {a.min, a.max}) {
        for (int64_t y : {b.min, b.max}) {
            result = hull(result, Range::point(saturate(static_cast<__int128>(x) * y)));
        }
    }
    return result;
}

Range quotient(const Range &a, const Range &b) {
    if (!b.is_point() || !b.bounded())
        return {};
    if (b.min == 0)
        return Range::point(0);
    const int64_t divisor = std::abs(b.min);
    const Range result{a.min <= -Range::infinite ? a.min : floor_div(a.min, divisor),
                       a.max >= Range::infinite ? a.max : floor_div(a.max, divisor)};
    return b.min < 0 ? result * -1 : result;
}

Range remainder(const Range &a, const Range &b) {
    if (b == Range::point(0))
        return b;
    if (b.is_empty() || b.max >= Range::infinite || b.min <= 0)
        return b.is_point() && b.bounded() ? remainder(a, b * -1) : Range();
    if (b.is_point() && a.bounded() && floor_div(a.min, b.min) == floor_div(a.max, b.min)) {
        const int64_t base = floor_div(a.min, b.min) * b.min;
        return {a.min - base, a.max - base};
    }
    return {0, b.max - 1};
}

Range smaller(const Range &a, const Range &b) {
    return {std::min(a.min, b.min), std::min(a.max, b.max)};
}

Range larger(const Range &a, const Range &b) {
    return {std::max(a.min, b.min), std::max(a.max, b.max)};
}

Range range_of(Type type) {
    if (!type.is_int_or_uint() || type.bits() > 16)
        return {};
    return {type.is_int() ? type.min_int() : 0, static_cast<int64_t>(type.max_uint())};
}

Range fitted(const Range &range, Type type) {
    const int64_t max = type.bits() < 62 ? static_cast<int64_t>(type.max_uint()) : Range::infinite;
    const bool fits = range.min >= (type.is_int() ? type.min_int() : 0) && range.max <= max;
    return fits ? range : range_of(type);
}

std::string value_name(const std::string &func, int element) {
    return func + ".value." + std::to_string(element);
}

Range range_of(const Expr &e, const Environment &names) {
    return Evaluator(names)(e);
}

}  // namespace Pipe::poly
