#include "region/conditions.h"

#include <unordered_set>

#include "ir/constant_bounds.h"
#include "ir/intrinsics.h"
#include "ir/lets.h"
#include "ir/linear.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"

namespace Pipe::region {

using namespace ir;

namespace {

/// abs(x) <= constant gives two bounds of x. Returns true if the comparison has this form.
bool add_magnitude(Op op, const Expr &e, std::vector<Expr> &conjuncts) {
    const Expr &a = e->a();
    int64_t limit = 0;
    if ((op != Op::LT && op != Op::LE) || a->op != Op::Call || a->name != intrinsic::abs ||
        !index_type(a->args[0].type()) || !as_const_int(e->b(), &limit))
        return false;
    const Expr &x = a->args[0];
    Expr most = make_int(x.type(), limit - (op == Op::LT));
    conjuncts.push_back(sub(x, most));
    conjuncts.push_back(sub(sub(make_const(x.type(), 0), x), most));
    return true;
}

/// As int32, which represents every narrower integer, as for indices; undefined for other types.
Expr as_index(const Expr &e) {
    Type t = e.type();
    if (index_type(t))
        return e;
    bool narrow = t.is_int_or_uint() && !t.is_bool() && t.bits() <= 16;
    return narrow ? simplify(make_cast(Int(32), e)) : Expr();
}

void add_conjuncts(const Expr &e, bool holds, std::vector<Expr> &conjuncts) {
    if (e->op == Op::Not)
        return add_conjuncts(e->value(), !holds, conjuncts);
    if (is_intrinsic(*e.get(), intrinsic::likely))
        return add_conjuncts(e->args[0], holds, conjuncts);
    bool guarded = is_intrinsic(*e.get(), intrinsic::if_then_else) && is_const(e->args[2], 0);
    if (e->op == (holds ? Op::And : Op::Or) || (holds && guarded)) {
        add_conjuncts(e->args[0], holds, conjuncts);
        add_conjuncts(e->args[1], holds, conjuncts);
        return;
    }
    if (!is_comparison(e->op) || !e.type().is_scalar())
        return;
    Op op = holds ? e->op : negated(e->op);
    Expr a = as_index(e->a()), b = as_index(e->b());
    if (add_magnitude(op, e, conjuncts) || !a.defined())
        return;
    // As `difference <= 0`.
    Expr one = make_const(a.type(), 1);
    if (op == Op::LT)
        conjuncts.push_back(add(sub(a, b), one));
    if (op == Op::LE || op == Op::EQ)
        conjuncts.push_back(sub(a, b));
    if (op == Op::GT)
        conjuncts.push_back(add(sub(b, a), one));
    if (op == Op::GE || op == Op::EQ)
        conjuncts.push_back(sub(b, a));
}

/// Data read from memory: it has the same value at each occurrence in a definition.
bool is_data(const Expr &e) {
    return reads_elements(e) && !has_side_effect(e);
}

/// The minimum of a sum. If it involves a Param or data, which may be any number, the sum of int32
/// is computed in int64 to be correct.
Expr least_of(const Linear &sum, const IntervalScope &scope) {
    Expr least = bounds_of(sum.to_expr(), scope).min;
    if (!least.defined() || sum.type != Int(32) || is_index(least))
        return least;
    LinearBuilder wide(Int(64));
    wide.add(make_int(Int(64), sum.constant));
    for (const Linear::Term &term : sum.terms)
        wide.add_atom(make_cast(Int(64), term.atom), term.coefficient);
    Linear result;
    return wide.finish(&result) ? bounds_of(result.to_expr(), scope).min : Expr();
}

/// An end of an interval of `type`, limited to the values that indices can take.
Expr as_end(Type type, const Expr &end, bool is_max) {
    constexpr int64_t far = int64_t{1} << 30;
    if (end.type() == type)
        return simplify(end);
    Expr least = make_int(Int(64), is_max ? -far : type.min_int());
    Expr most = make_int(Int(64), is_max ? type.max_int() : far);
    return simplify(make_cast(type, min(max(end, least), most)));
}

/// Narrows each variable of `linear <= 0` in turn, given the intervals of the others, and likewise
/// each value read from memory.
void narrow_by(IntervalScope &scope, const Linear &linear) {
    for (const Linear::Term &term : linear.terms) {
        const Interval *old = term.atom->op == Op::Variable ? scope.find(term.atom->name) : nullptr;
        if (!old && !is_data(term.atom))
            continue;
        // coefficient * v <= -rest
        Linear rest = linear;
        rest.add(Linear::from_expr(term.atom), -term.coefficient);
        Expr least = least_of(rest, scope);
        if (!least.defined())
            continue;
        const Type type = linear.type, t = least.type();
        Expr limit = sub(make_const(t, 0), least);
        Interval now = old ? *old : Interval::everything();
        if (term.coefficient > 0) {
            Expr upper = div(limit, make_int(t, term.coefficient));
            now = intersect(now, {Expr(), as_end(type, upper, true)});
        } else {
            // v >= limit / coefficient, rounded up
            Expr k = make_int(t, -term.coefficient);
            Expr lower = div(sub(add(least, k), make_const(t, 1)), k);
            now = intersect(now, {as_end(type, lower, false), Expr()});
        }
        if (old)
            scope.push(term.atom->name, now);
        else
            scope.assume(term.atom, now);
    }
}

}  // namespace

std::vector<Expr> conjuncts_of(const Expr &condition, bool holds) {
    std::vector<Expr> conjuncts;
    add_conjuncts(condition, holds, conjuncts);
    return conjuncts;
}

IntervalScope narrowed(const IntervalScope &scope, const Expr &condition, bool holds) {
    IntervalScope result = scope;
    for (const Expr &c : conjuncts_of(condition, holds))
        narrow_by(result, Linear::from_expr(c));
    return result;
}

}  // namespace Pipe::region
