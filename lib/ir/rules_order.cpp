// Rules for min, max, comparisons, && || ! and select.

#include <algorithm>
#include <numeric>

#include "ir/constant_bounds.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/rules.h"
#include "support/integers.h"

namespace Pipe::ir {
namespace {

using Interval = ConstantInterval;

Op opposite(Op min_or_max) {
    return min_or_max == Op::Min ? Op::Max : Op::Min;
}

bool is_likely(const Expr &e) {
    return !strip_likely(e).same_as(e);
}

bool is_negation_of(const Expr &a, const Expr &b) {
    return a->op == Op::Not && equal(a->value(), b);
}

/// A constant that may overflow if an index is added to it.
bool is_far(int64_t constant, Type type) {
    const int64_t far = int64_t{1} << (type.bits() - 2);
    return constant >= far || constant <= -far;
}

/// The sum that is >= 0 if and only if the comparison `<` or `<=` of scalars holds.
bool as_non_negative(const Expr &e, Linear *sum) {
    if ((e->op != Op::LT && e->op != Op::LE) || !has_no_overflow(e->a().type()))
        return false;
    *sum = Linear::from_expr(e->b());
    return sum->add(Linear::from_expr(e->a()), -1) &&
           sum->add(Linear::from_constant(sum->type, 1), e->op == Op::LT ? -1 : 0);
}

}  // namespace

// Minimum and maximum.

/// Decides by the bounds of the difference, or of the operands.
bool Rules::decide_min_max(Op op, const Expr &a, const Expr &b, Expr *result) {
    Type type = a.type();
    if (!type.is_int_or_uint() || type.is_bool())
        return false;
    bool less = false, greater = false;  // a <= b, a >= b
    if (has_no_overflow(type)) {
        Linear difference = Linear::from_expr(a);
        if (!difference.add(Linear::from_expr(b), -1))
            return false;
        Interval range = constant_bounds(difference, facts_);
        less = range.hi <= 0;
        greater = range.lo >= 0;
    } else {
        Interval x = bounds(a), y = bounds(b);
        less = x.has_hi() && x.hi <= y.lo;
        greater = y.has_hi() && x.lo >= y.hi;
    }
    if (!less && !greater)
        return false;
    *result = less == (op == Op::Min) ? a : b;
    return true;
}

Expr Rules::min_max(Op op, const Expr &a, const Expr &b) {
    if (equal(a, b))
        return a;
    Expr result, x = strip_likely(a), y = strip_likely(b);
    if (decide_min_max(op, x, y, &result))
        return result;
    if (!a.type().is_int_or_uint() || is_likely(a) || is_likely(b))
        return make_binary(op, a, b);
    if (result = min_max_nested(op, a, b); result.defined())
        return result;
    if (result = min_max_nested(op, b, a); result.defined())
        return result;
    if (has_no_overflow(a.type()))
        if (result = min_max_of_sums(op, a, b); result.defined())
            return result;
    bool swapped = is_constant(a) || (!is_constant(b) && ir::compare(b, a) < 0);
    return swapped ? make_binary(op, b, a) : make_binary(op, a, b);
}

/// Drops an operand of `a` that is redundant given `b`.
Expr Rules::min_max_nested(Op op, const Expr &a, const Expr &b) {
    Expr better;
    if (a->op == op) {  // min(min(p, q), b) with b <= q
        for (int i : {1, 0})
            if (decide_min_max(op, a->args[i], b, &better))
                return binary(op, a->args[1 - i], better);
    } else if (a->op == opposite(op)) {  // min(max(min(u, v), q), b) with v >= b
        for (int i : {0, 1}) {
            const Expr &inner = a->args[i];
            if (inner->op != op)
                continue;
            for (int j : {1, 0})
                if (decide_min_max(op, inner->args[j], b, &better) && better.same_as(b))
                    return binary(op, binary(a->op, inner->args[1 - j], a->args[1 - i]), b);
        }
    }
    return Expr();
}

/// min(x + k + c, y + k + d) = min(x, y + (d - c)) + k + c, for constants c, d and variables k that
/// both operands have.
Expr Rules::min_max_of_sums(Op op, const Expr &a, const Expr &b) {
    Linear x = Linear::from_expr(a), y = Linear::from_expr(b);
    if (x.is_constant() || y.is_constant() || has_data(x) || has_data(y))
        return Expr();
    if (ir::compare(y.terms[0].atom, x.terms[0].atom) < 0)
        std::swap(x, y);
    Linear common{a.type(), x.constant != 0 && y.constant != 0 ? x.constant : 0, {}};
    for (const auto &t : x.terms)
        if (t.atom->op == Op::Variable && y.coefficient(t.atom) == t.coefficient)
            common.terms.push_back(t);
    if (common.constant == 0 && common.terms.empty())
        return Expr();
    if (!x.add(common, -1) || !y.add(common, -1) || is_far(x.constant, a.type()) ||
        is_far(y.constant, a.type()))
        return Expr();
    Expr p = sum(x), q = sum(y);
    if (!p.defined() || !q.defined())
        return Expr();
    Linear result = Linear::from_expr(binary(op, p, q));
    return result.add(common) ? sum(result) : Expr();
}

// Comparisons.

Expr Rules::decided(const Interval &d, Op op) {
    switch (op) {
    case Op::LT:
        return d.hi < 0 ? Expr(true) : d.lo >= 0 ? Expr(false) : Expr();
    case Op::LE:
        return d.hi <= 0 ? Expr(true) : d.lo > 0 ? Expr(false) : Expr();
    case Op::EQ:
        if (d == Interval::single(0))
            return Expr(true);
        return d.contains(0) ? Expr() : Expr(false);
    case Op::NE:
        if (d == Interval::single(0))
            return Expr(false);
        return d.contains(0) ? Expr() : Expr(true);
    default:
        return Expr();
    }
}

Expr Rules::comparison(Op op, const Expr &a, const Expr &b) {
    if (op == Op::GT)
        return comparison(Op::LT, b, a);
    if (op == Op::GE)
        return comparison(Op::LE, b, a);
    Type type = a.type();
    if (equal(a, b)) {
        if (op == Op::LT)
            return make_const(Bool(type.lanes()), 0);
        if (!type.is_float())
            return make_const(Bool(type.lanes()), op != Op::NE);
    }
    if (has_no_overflow(type))
        return compare_sums(op, a, b);
    if (type.is_int_or_uint()) {
        Expr known = decided(bounds(a) - bounds(b), op);
        if (known.defined())
            return broadcast(known, type.lanes());
    }
    int64_t c = 0;
    if (type.is_bool() && (op == Op::EQ || op == Op::NE)) {
        if (as_const_int(a, &c))
            return comparison(op, b, a);
        if (as_const_int(b, &c))
            return (c != 0) == (op == Op::EQ) ? a : logical_not(a);
    }
    return make_binary(op, a, b);
}

/// Rewrites a < b as P <= N + m, where P and N have only positive coefficients.
Expr Rules::compare_sums(Op op, const Expr &a, const Expr &b) {
    Expr plain = make_binary(op, a, b);
    int lanes = a.type().lanes();
    Linear difference = Linear::from_expr(strip_likely(a));
    if (!difference.add(Linear::from_expr(strip_likely(b)), -1))
        return plain;
    Expr known = decided(constant_bounds(difference, facts_), op);
    if (known.defined())
        return broadcast(known, lanes);
    if (is_likely(a) || is_likely(b) || difference.constant == INT64_MIN)
        return plain;
    // Indices stay far from the limits of int32, data does not: old + 4 may overflow where new - 4
    // < old does not. Nor do constants: x - 2147483647 < y - z may be right where z < y - x + 2147483647 overflows.
    if (difference.terms.size() > 1 &&
        (is_far(difference.constant, a.type()) || has_data(difference)))
        return plain;
    if (lanes > 1) {
        Expr e = sum(difference);
        if (e.defined() && e->op == Op::Broadcast)
            return broadcast(comparison(op, e->value(), make_const(e->value().type(), 0)), lanes);
    }

    int64_t g = 0;
    for (const auto &t : difference.terms)
        g = std::gcd(g, t.coefficient);
    if (g <= 0)
        return plain;
    bool is_order = op == Op::LT || op == Op::LE;
    int64_t k = -difference.constant;  // Σ op k
    if (!is_order && k % g != 0)
        return make_const(Bool(lanes), op == Op::NE);
    Linear left{a.type(), 0, {}}, right = left;
    for (const auto &t : difference.terms) {
        bool positive = t.coefficient > 0;
        (positive ? left : right)
            .terms.push_back({t.atom, (positive ? 1 : -1) * (t.coefficient / g)});
    }
    int64_t m = is_order ? floor_div(op == Op::LT ? k - 1 : k, g) : k / g;  // left <= right + m
    return write_comparison(op, left, right, m, plain);
}

Expr Rules::write_comparison(Op op, Linear left, Linear right, int64_t m, const Expr &plain) {
    if (op == Op::EQ || op == Op::NE) {
        // 0 == N + m as N == -m: constants on the right.
        if (left.terms.empty()) {
            std::swap(left, right);
            m = -m;
        }
        right.constant = m;
    } else if (left.terms.empty()) {  // -m <= N
        if (m == INT64_MIN)
            return plain;
        left.constant = -m;
        op = Op::LE;
    } else {
        // x <= y and x < y + c
        if (m == INT64_MAX)
            return plain;
        op = m == 0 && !right.terms.empty() ? Op::LE : Op::LT;
        right.constant = op == Op::LE ? 0 : m + 1;
    }
    Expr divided = compare_quotient(op, left, right);
    if (divided.defined())
        return divided;
    Expr x = sum(left), y = sum(right);
    return x.defined() && y.defined() ? make_binary(op, x, y) : plain;
}

/// x/c < y is x < y*c; x <= y/c is x*c <= y. Only if the products cannot overflow.
Expr Rules::compare_quotient(Op op, const Linear &left, const Linear &right) {
    auto is_quotient = [](const Linear &sum, int64_t *divisor) {
        return sum.constant == 0 && sum.terms.size() == 1 && sum.terms[0].coefficient == 1 &&
               sum.terms[0].atom->op == Op::Div && as_const_int(sum.terms[0].atom->b(), divisor) &&
               *divisor > 0;
    };
    int64_t c = 0;
    Linear scaled = right;
    if ((op == Op::LT || op == Op::LE) && is_quotient(left, &c)) {
        if ((op == Op::LE && !scaled.add(Linear::from_constant(left.type, 1))) || !fits(scaled, c))
            return Expr();
        Expr limit = scaled.scale(c) ? sum(scaled) : Expr();
        return limit.defined() ? comparison(Op::LT, left.terms[0].atom->a(), limit) : Expr();
    }
    scaled = left;
    if (op == Op::LE && is_quotient(right, &c) && fits(left, c)) {
        Expr limit = scaled.scale(c) ? sum(scaled) : Expr();
        return limit.defined() ? comparison(Op::LE, limit, right.terms[0].atom->a()) : Expr();
    }
    return Expr();
}

// Logic.

Expr Rules::logical(Op op, const Expr &a, const Expr &b) {
    int64_t c = 0;
    if (as_const_int(a, &c))
        return (c != 0) == (op == Op::And) ? b : a;
    if (as_const_int(b, &c))
        return (c != 0) == (op == Op::And) ? a : b;
    if (equal(a, b))
        return a;
    if (is_negation_of(a, b) || is_negation_of(b, a))
        return make_const(a.type(), op == Op::Or);
    // Compares with the last few operands of a chain a = p && q && ...
    const Expr *chain = &a;
    for (int i = 0; i < 4; i++) {
        const Expr &last = (*chain)->op == op ? (*chain)->b() : *chain;
        if (equal(last, b))
            return a;
        Expr both = combine_comparisons(op, last, b);
        if (both.defined()) {
            if (as_const_int(both, &c))
                return make_const(a.type(), c);
            if (both.same_as(last))
                return a;
            if (i == 0)
                return (*chain)->op == op ? logical(op, (*chain)->a(), both) : both;
        }
        if ((*chain)->op != op)
            break;
        chain = &(*chain)->a();
    }
    return make_binary(op, a, b);
}

/// Combines two comparisons if one implies or excludes the other.
Expr Rules::combine_comparisons(Op op, const Expr &a, const Expr &b) {
    Linear x, y;
    if (!as_non_negative(a, &x) || !as_non_negative(b, &y) || x.type != y.type)
        return Expr();
    Linear difference = x, total = x;
    if (difference.add(y, -1) && difference.is_constant()) {
        bool a_implied = difference.constant >= 0;  // x >= y, so that y >= 0 implies x >= 0
        return a_implied == (op == Op::And) ? b : a;
    }
    if (total.add(y) && total.is_constant()) {
        if (op == Op::And && total.constant < 0)
            return make_const(a.type(), 0);
        if (op == Op::Or && total.constant >= -1)
            return make_const(a.type(), 1);
    }
    return Expr();
}

Expr Rules::logical_not(const Expr &a) {
    int64_t c = 0;
    if (as_const_int(a, &c))
        return make_const(a.type(), c == 0);
    if (a->op == Op::Not)
        return a->value();
    if (a->op == Op::Broadcast)
        return broadcast(logical_not(a->value()), a.type().lanes());
    if (is_comparison(a->op)) {
        bool exact = !a->a().type().is_float() || a->op == Op::EQ || a->op == Op::NE;
        if (exact)
            return comparison(negated(a->op), a->a(), a->b());
    }
    return make_not(a);
}

Expr Rules::select(const Expr &condition, const Expr &t, const Expr &f) {
    int64_t c = 0;
    if (as_const_int(condition, &c))
        return c != 0 ? t : f;
    if (equal(t, f))
        return t;
    if (condition->op == Op::Not)
        return select(condition->value(), f, t);
    int lanes = t.type().lanes();
    if (condition->op == Op::Broadcast)
        return select(condition->value(), t, f);
    if (condition.type().is_scalar() && t->op == Op::Broadcast && f->op == Op::Broadcast)
        return broadcast(select(condition, t->value(), f->value()), lanes);
    if (t->op == Op::Select && equal(t->condition(), condition))
        return select(condition, t->if_true(), f);
    if (f->op == Op::Select && equal(f->condition(), condition))
        return select(condition, t, f->if_false());
    if (t.type().is_bool() && condition.type() == t.type())
        if (Expr e = select_bool(condition, t, f); e.defined())
            return e;
    if ((condition->op == Op::LT || condition->op == Op::LE) && t.type().is_int_or_uint() &&
        condition.type().lanes() == lanes) {
        const Expr &x = condition->a(), &y = condition->b();
        if (equal(x, t) && equal(y, f))
            return min_max(Op::Min, t, f);
        if (equal(x, f) && equal(y, t))
            return min_max(Op::Max, t, f);
    }
    return make_select(condition, t, f);
}

Expr Rules::select_bool(const Expr &condition, const Expr &t, const Expr &f) {
    int64_t c = 0;
    if (as_const_int(t, &c))
        return c != 0 ? logical(Op::Or, condition, f) : logical(Op::And, logical_not(condition), f);
    if (as_const_int(f, &c))
        return c != 0 ? logical(Op::Or, logical_not(condition), t) : logical(Op::And, condition, t);
    return Expr();
}

}  // namespace Pipe::ir
