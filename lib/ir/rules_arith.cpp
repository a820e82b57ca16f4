// Rules for + - * / %.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "ir/constant_bounds.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/intrinsics.h"
#include "ir/rules.h"
#include "support/integers.h"

namespace Pipe::ir {
namespace {

using Interval = ConstantInterval;

/// The quotient by `positive`, if it is the same for all numbers of the interval.
bool common_quotient(const Interval &range, int64_t positive, int64_t *quotient) {
    if (!range.has_lo() || !range.has_hi())
        return false;
    *quotient = floor_div(range.lo, positive);
    return *quotient == floor_div(range.hi, positive);
}

int64_t gcd_of_terms(const Linear &sum, int64_t g) {
    for (const auto &t : sum.terms)
        g = std::gcd(g, t.coefficient);
    return g;
}

/// The ends of `known`, and those of `other` where it has none.
Interval or_else(const Interval &known, const Interval &other) {
    return {known.has_lo() ? known.lo : other.lo, known.has_hi() ? known.hi : other.hi};
}

/// sum = g * result + the remainder of the constant; g divides all coefficients.
Linear divide_terms(Linear sum, int64_t g) {
    for (auto &t : sum.terms)
        t.coefficient /= g;
    sum.constant = floor_div(sum.constant, g);
    return sum;
}

}  // namespace

/// y / c or y % c, or a cast of one of them to a wider type, where c > 0 is constant.
struct Rules::Divided {
    Op op;
    Expr dividend;
    int64_t divisor;

    /// Whether dividend and divisor are the same.
    Expr atom(Op wanted, Type type) const {
        return make_cast(type, make_binary(wanted, dividend, make_const(dividend.type(), divisor)));
    }
};

std::optional<Rules::Divided> Rules::as_divided(const Expr &atom) {
    const Expr &e = atom->op == Op::Cast ? atom->value() : atom;
    int64_t divisor = 0;
    if ((e->op != Op::Div && e->op != Op::Mod) || !has_no_overflow(e.type()) ||
        !as_const_int(e->b(), &divisor) || divisor <= 0 || e.type().bits() > atom.type().bits())
        return std::nullopt;
    return Divided{e->op, e->a(), divisor};
}

Expr strip_likely(const Expr &e) {
    bool is_likely = is_intrinsic(*e.get(), intrinsic::likely);
    return is_likely ? strip_likely(e->args[0]) : e;
}

bool has_data(const Linear &sum) {
    const int64_t limit = usual_limit(sum.type);
    return !std::all_of(sum.terms.begin(), sum.terms.end(), [&](const Linear::Term &t) {
        return is_index(t.atom) && -limit <= t.coefficient && t.coefficient <= limit;
    });
}

ConstantInterval Rules::bounds(const Expr &e) const {
    return constant_bounds(e, facts_);
}

Expr Rules::binary(Op op, const Expr &a, const Expr &b) {
    if (Expr folded = fold_binary(op, a, b); folded.defined())
        return folded;
    if (a.type().is_vector())
        if (Expr result = lanes(op, a, b); result.defined())
            return result;
    switch (op) {
    case Op::Add:
    case Op::Sub:
        return add(op, a, b);
    case Op::Mul:
        return multiply(a, b);
    case Op::Div:
        return divide(a, b);
    case Op::Mod:
        return remainder(a, b);
    case Op::Min:
    case Op::Max:
        return min_max(op, a, b);
    case Op::And:
    case Op::Or:
        return logical(op, a, b);
    default:
        return comparison(op, a, b);
    }
}

Expr Rules::sum(const Linear &given) {
    if (!given.representable())
        return Expr();
    Linear joined = given;
    while (join_quotients(&joined)) {
    }
    if (!joined.representable())
        joined = given;
    return given.type.is_vector() ? sum_of_lanes(joined) : joined.to_expr();
}

/// Returns true if the sum became shorter.
bool Rules::join_quotients(Linear *sum) {
    for (const Linear::Term &t : sum->terms) {
        std::optional<Divided> divided = as_divided(t.atom);
        if (!divided)
            continue;
        Linear rest = *sum;
        bool is_joined = divided->op == Op::Div ? join_quotient(&rest, *divided, t.coefficient)
                                                : join_remainder(&rest, *divided, t.coefficient);
        if (!is_joined || rest.terms.size() >= sum->terms.size())
            continue;
        *sum = std::move(rest);
        return true;
    }
    return false;
}

/// (y / c) * c + y % c = y, and y - (y / c) * c = y % c.
bool Rules::join_quotient(Linear *sum, const Divided &d, int64_t coefficient) {
    if (coefficient % d.divisor != 0)
        return false;
    const int64_t factor = coefficient / d.divisor;
    const Type type = sum->type;
    return sum->add({type, 0, {{d.atom(Op::Div, type), 1}}}, -coefficient) &&
           sum->add(Linear::from_expr(cast(type, d.dividend)), factor) &&
           sum->add({type, 0, {{d.atom(Op::Mod, type), 1}}}, -factor);
}

/// The same where y / c has another form: (x / 4) % 3 + (x / 12) * 3 = x / 4.
bool Rules::join_remainder(Linear *sum, const Divided &d, int64_t coefficient) {
    int64_t factor = 0;
    const Type type = sum->type;
    bool has_quotient =
        !__builtin_mul_overflow(coefficient, d.divisor, &factor) && factor != INT64_MIN &&
        std::any_of(sum->terms.begin(), sum->terms.end(), [&](const Linear::Term &t) {
            auto other = as_divided(t.atom);
            return other && other->op == Op::Div && t.coefficient == factor;
        });
    return has_quotient && sum->add({type, 0, {{d.atom(Op::Mod, type), 1}}}, -coefficient) &&
           sum->add(Linear::from_expr(cast(type, d.dividend)), coefficient) &&
           sum->add(Linear::from_expr(cast(type, divide_by(d.dividend, d.divisor))), -factor);
}

Expr Rules::add(Op op, const Expr &a, const Expr &b) {
    if (!has_no_overflow(a.type()))
        return add_wrapping(op, a, b);
    Linear result = Linear::from_expr(a);
    Expr e;
    if (result.add(Linear::from_expr(b), op == Op::Add ? 1 : -1))
        e = sum(result);
    return e.defined() ? e : make_binary(op, a, b);
}

/// Integers that wrap, and floats.
Expr Rules::add_wrapping(Op op, const Expr &a, const Expr &b) {
    bool is_float = a.type().is_float();
    if (op == Op::Add && is_constant(a) && !is_constant(b))
        return add_wrapping(op, b, a);
    if (is_const(b, 0))
        return a;
    if (is_float) {
        // x + 0 is not x for x = -0; x - 0 is.
        bool minus_zero = op == Op::Sub && b->op == Op::FloatImm && b->float_value == 0 &&
                          !std::signbit(b->float_value);
        return minus_zero ? a : make_binary(op, a, b);
    }
    if (op == Op::Sub && equal(a, b))
        return make_const(a.type(), 0);
    // (x + c) + d, (x - c) - d
    if (a->op == op && is_constant(a->b()) && is_constant(b)) {
        Expr c = binary(Op::Add, a->b(), b);
        return binary(op, a->a(), c);
    }
    return make_binary(op, a, b);
}

Expr Rules::multiply(const Expr &a, const Expr &b) {
    if (is_constant(a) && !is_constant(b))
        return multiply(b, a);
    Type type = a.type();
    if (type.is_float()) {
        bool one = b->op == Op::FloatImm && b->float_value == 1;
        return one ? a : make_binary(Op::Mul, a, b);
    }
    int64_t c = 0;
    if (as_const_int(b, &c)) {
        if (c == 0)
            return b;
        if (c == 1)
            return a;
        if (has_no_overflow(type)) {
            Linear scaled = Linear::from_expr(a);
            Expr e = scaled.scale(c) ? sum(scaled) : Expr();
            return e.defined() ? e : make_binary(Op::Mul, a, b);
        }
    }
    // (x * c) * y = (x * y) * c; then x * y in canonical order.
    for (const auto &[p, q] : {std::pair{a, b}, std::pair{b, a}})
        if (p->op == Op::Mul && is_constant(p->b())) {
            if (is_constant(q)) {
                Expr factor = fold_binary(Op::Mul, p->b(), q);
                return factor.defined() ? multiply(p->a(), factor) : make_binary(Op::Mul, a, b);
            }
            return multiply(multiply(p->a(), q), p->b());
        }
    bool swapped = !is_constant(b) && ir::compare(b, a) < 0;
    return swapped ? make_binary(Op::Mul, b, a) : make_binary(Op::Mul, a, b);
}

Expr Rules::divide(const Expr &a, const Expr &b) {
    Type type = a.type();
    if (type.is_float()) {
        bool one = b->op == Op::FloatImm && b->float_value == 1;
        return one ? a : make_binary(Op::Div, a, b);
    }
    if (is_const(a, 0))
        return a;
    int64_t c = 0, quotient = 0;
    if (!as_const_int(b, &c))
        return make_binary(Op::Div, a, b);
    if (c == 0 || c == 1)
        return c == 0 ? b : a;
    if (has_no_overflow(type)) {
        if (c > 0)
            return divide_by(a, c);
        if (c == type.min_int())
            return make_binary(Op::Div, a, b);
        return multiply(divide_by(a, -c), make_const(type, -1));
    }
    if (c > 0 && common_quotient(bounds(a), c, &quotient))
        return make_const(type, quotient);
    return make_binary(Op::Div, a, b);
}

/// Bounds of the sum. Ends that the facts do not know are computed from the terms: data, and a product of
/// indices, may be any number of its type.
ConstantInterval Rules::usual_bounds(const Linear &sum) const {
    const Type type = sum.type.element_of();
    const Interval index{-usual_limit(type), usual_limit(type)};
    const Interval data{type.min_int(), type.max_int()};
    const Interval known = constant_bounds(sum, facts_);
    if (known.has_lo() && known.has_hi())
        return known;
    Interval usually = Interval::single(sum.constant);
    for (const Linear::Term &t : sum.terms) {
        const bool is_small = is_index(t.atom) && t.atom->op != Op::Mul;
        usually = usually + or_else(bounds(t.atom), is_small ? index : data) *
                                Interval::single(t.coefficient);
    }
    return or_else(known, usually);
}

/// Whether `factor * sum` cannot overflow its type, as rewriting quotients requires: in(x) + 1 may, where
/// in(x) - 1 may not.
bool Rules::fits(const Linear &sum, int64_t factor) const {
    if (sum.terms.size() == 1 && sum.terms[0].coefficient == 1 && sum.constant == 0 && factor == 1)
        return true;
    const Type type = sum.type.element_of();
    const Interval range = usual_bounds(sum) * Interval::single(factor);
    return range.has_lo() && range.has_hi() && range.within({type.min_int(), type.max_int()});
}

/// Removes multiples of the divisor from the dividend.
Expr Rules::divide_by(const Expr &a, int64_t c) {
    const Expr plain = make_binary(Op::Div, a, make_const(a.type(), c));
    Linear dividend = Linear::from_expr(a);
    Linear whole{a.type(), floor_div(dividend.constant, c), {}};
    Linear rest{a.type(), dividend.constant - whole.constant * c, {}};
    for (const auto &t : dividend.terms) {
        if (t.coefficient % c == 0)
            whole.terms.push_back({t.atom, t.coefficient / c});
        else
            rest.terms.push_back(t);
    }
    // Data is left as it is if nothing becomes simpler. Sums of indices may later meet others that
    // differ by a constant.
    if (whole.is_constant() && rest.constant != 0 && has_data(rest)) {
        rest.constant = dividend.constant;
        whole.constant = 0;
    }
    int64_t quotient = 0;
    if (common_quotient(constant_bounds(rest, facts_), c, &quotient)) {
        whole.constant += quotient;
        Expr e = sum(whole);
        return e.defined() ? e : plain;
    }
    if ((whole.constant != 0 || !whole.is_constant()) && !fits(rest))
        return plain;
    int64_t g = gcd_of_terms(rest, c);  // (g*y + k) / (g*d) = (y + k/g) / d
    rest = divide_terms(std::move(rest), g);
    int64_t d = c / g;
    Expr part = divide_quotient(rest, d);
    if (!part.defined()) {
        part = sum(rest);
        if (part.defined() && d != 1)
            part = make_binary(Op::Div, part, make_const(a.type(), d));
    }
    Expr e;
    if (part.defined()) {
        Linear result = Linear::from_expr(part);
        if (result.add(whole))
            e = sum(result);
    }
    return e.defined() ? e : plain;
}

/// (y/e + k) / d = (y + k*e) / (e*d), where `dividend` is y/e + k; undefined for other dividends.
Expr Rules::divide_quotient(const Linear &dividend, int64_t d) {
    int64_t e = 0, product = 0;
    if (dividend.terms.size() != 1 || dividend.terms[0].coefficient != 1)
        return Expr();
    const Expr &inner = dividend.terms[0].atom;
    if (inner->op != Op::Div || !as_const_int(inner->b(), &e) || e <= 0 ||
        __builtin_mul_overflow(e, d, &product) || !dividend.type.can_represent(product))
        return Expr();
    Linear y = Linear::from_expr(inner->a());
    if (!y.add(Linear::from_constant(dividend.type, dividend.constant), e) ||
        (dividend.constant != 0 && !fits(y)))
        return Expr();
    Expr numerator = sum(y);
    return numerator.defined() ? divide_by(numerator, product) : Expr();
}

Expr Rules::remainder(const Expr &a, const Expr &b) {
    int64_t c = 0, quotient = 0;
    Type type = a.type();
    if (type.is_float() || !as_const_int(b, &c))
        return make_binary(Op::Mod, a, b);
    if (c == 0 || c == 1)
        return make_const(type, 0);
    if (has_no_overflow(type)) {
        return c == INT64_MIN ? make_binary(Op::Mod, a, b) : remainder_by(a, std::abs(c));
    }
    if (c > 0 && common_quotient(bounds(a), c, &quotient) && quotient == 0)
        return a;
    return make_binary(Op::Mod, a, b);
}

/// Removes multiples of the divisor.
Expr Rules::remainder_by(const Expr &a, int64_t c) {
    Expr plain = make_binary(Op::Mod, a, make_const(a.type(), c));
    if (!a.type().can_represent(c))
        return plain;
    const Linear dividend = Linear::from_expr(a);
    const int64_t constant = dividend.constant - floor_div(dividend.constant, c) * c;
    Linear rest = Linear::from_constant(a.type(), constant), through = rest;
    bool changed = constant != dividend.constant, sees_through = true;
    for (const auto &t : dividend.terms) {
        int64_t coefficient = t.coefficient % c, m = 0, product = 0;
        changed |= coefficient != t.coefficient;
        if (coefficient != 0)
            rest.terms.push_back({t.atom, coefficient});
        Linear value{a.type(), 0, {{t.atom, 1}}};
        // y % m differs from y by a multiple of m.
        if (t.atom->op == Op::Mod && as_const_int(t.atom->b(), &m) && m > 0 &&
            !__builtin_mul_overflow(coefficient, m, &product) && product % c == 0)
            value = Linear::from_expr(t.atom->a());
        sees_through = sees_through && through.add(value, coefficient);
    }
    through.constant -= floor_div(through.constant, c) * c;
    Expr e;
    if (sees_through && fits(through))
        e = remainder_of(std::move(through), c);
    else if (!changed || fits(rest))
        e = remainder_of(std::move(rest), c);
    return e.defined() ? e : plain;
}

/// sum % c, if the sum cannot overflow.
Expr Rules::remainder_of(Linear sum, int64_t c) {
    int64_t quotient = 0;
    if (common_quotient(constant_bounds(sum, facts_), c, &quotient))
        return sum.add(Linear::from_constant(sum.type, c), -quotient) ? this->sum(sum) : Expr();
    const Type type = sum.type;
    int64_t g = gcd_of_terms(sum, c);  // (g*y + k) % (g*d) = g * ((y + k/g) % d) + k%g
    int64_t last = sum.constant % g;
    Expr dividend = this->sum(divide_terms(std::move(sum), g));
    if (!dividend.defined())
        return dividend;
    Expr mod = make_binary(Op::Mod, dividend, make_const(type, c / g));
    return this->sum({type, last, {{mod, g}}});
}

}  // namespace Pipe::ir
