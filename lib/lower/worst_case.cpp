#include "lower/worst_case.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "ir/constant_bounds.h"
#include "ir/intrinsics.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/lanes.h"
#include "support/integers.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// Steps that one inequality may take; nested min and max branch.
constexpr int max_effort = 200;

/// Ranks of terms that are not yet final: what can be replaced exactly goes first, then the innermost.
constexpr int exact = 1 << 20;
constexpr int final_term = -1;

bool is_widening_cast(const Expr &e) {
    return e->op == Op::Cast && has_no_overflow(e.type()) && has_no_overflow(e->value().type()) &&
           e.type().bits() >= e->value().type().bits();
}

/// sum += factor * e
bool accumulate(Linear *sum, const Expr &e, int64_t factor) {
    LinearBuilder builder(sum->type);
    builder.add(e, factor);
    Linear more;
    return builder.finish(&more) && sum->add(more);
}

/// sum >= 0 stays as true as it was: all terms are integers, so the constant may be rounded down.
void divide_by_common_factor(Linear *sum) {
    int64_t common = 0;
    for (const auto &t : sum->terms)
        common = std::gcd(common, t.coefficient);
    if (common <= 1)
        return;
    for (auto &t : sum->terms)
        t.coefficient /= common;
    int64_t remainder = sum->constant % common;
    sum->constant = (sum->constant - remainder) / common - (remainder < 0 ? 1 : 0);
}

/// The quotient of a sum whose terms are multiples of the divisor.
std::optional<Linear> exact_quotient(Linear sum, int64_t divisor) {
    for (auto &t : sum.terms) {
        if (t.coefficient % divisor != 0)
            return {};
        t.coefficient /= divisor;
    }
    sum.constant = floor_div(sum.constant, divisor);
    return sum;
}

}  // namespace

WorstCase::WorstCase(Expr variable, const Expr &min, const Expr &max, const Scope<Inner> &inner)
    : variable_(std::move(variable)), min_(min), max_(max), inner_(inner) {}

std::optional<std::vector<WorstCase::Bound>> WorstCase::bounds(const Linear &sum) {
    // Of the clamps in a long chain of operations none is decided by the iterations of a loop.
    constexpr int deepest = 50;
    if (std::any_of(sum.terms.begin(), sum.terms.end(),
                    [](const Linear::Term &t) { return t.atom->depth > deepest; }))
        return {};
    effort_ = max_effort;
    Bounds result;
    if (!reduce(sum, &result))
        return {};
    return result;
}

/// What a scalar atom is another word for; undefined if for nothing.
Expr WorstCase::meaning(const Expr &atom) const {
    if (is_widening_cast(atom) || is_marker(*atom.get()))
        return atom->args[0];
    const Inner *inner = atom->op == Op::Variable ? inner_.find(atom->name) : nullptr;
    return inner && inner->value.defined() && inner->value.type().is_scalar() ? inner->value
                                                                              : Expr();
}

Linear WorstCase::expanded(const Expr &e) const {
    Linear sum{Int(64), 0, {}};
    if (!accumulate(&sum, e, 1))
        return {Int(64), 0, {{e, 1}}};
    for (int steps = 0; steps < max_effort; steps++) {
        auto found = std::find_if(sum.terms.begin(), sum.terms.end(),
                                  [&](const Linear::Term &t) { return meaning(t.atom).defined(); });
        if (found == sum.terms.end())
            break;
        Linear::Term t = *found;
        sum.terms.erase(found);
        if (!accumulate(&sum, meaning(t.atom), t.coefficient))
            return {Int(64), 0, {{e, 1}}};
    }
    return divided(sum);
}

/// A scalar quotient as a sum.
std::optional<Linear> WorstCase::quotient_of(const Expr &atom) const {
    int64_t divisor = 0;
    if (atom->op != Op::Div || !atom.type().is_scalar() || !as_const_int(atom->b(), &divisor) ||
        divisor <= 0)
        return {};
    return exact_quotient(expanded(atom->a()), divisor);
}

/// The same sum, with quotients that are exact as sums.
Linear WorstCase::divided(const Linear &sum) const {
    Linear result{sum.type, sum.constant, {}};
    for (const Linear::Term &t : sum.terms) {
        const auto quotient = quotient_of(t.atom);
        if (!result.add(quotient ? *quotient : Linear{sum.type, 0, {{t.atom, 1}}}, t.coefficient))
            return sum;
    }
    return result;
}

std::optional<int> WorstCase::depth(const Expr &e) const {
    int result = final_term;
    bool changes = contains(e, [&](const ExprNode &node) {
        if (node.op == Op::Variable) {
            const Inner *inner = inner_.find(node.name);
            result = std::max(result, inner                          ? inner->depth
                                      : node.name == variable_->name ? 0
                                                                     : final_term);
        }
        return ir::may_change(node);
    });
    if (changes)
        return {};
    return result;
}

/// In which order terms are replaced; final_term: it stays.
int WorstCase::rank(const Expr &atom) const {
    if (atom.type().is_vector() || is_widening_cast(atom) || is_marker(*atom.get()))
        return exact;
    bool is_variable = atom->op == Op::Variable;
    if (is_variable && atom->name == variable_->name)
        return final_term;
    if (is_variable) {
        const Inner *inner = inner_.find(atom->name);
        return !inner ? final_term : inner->value.defined() ? exact : 2 * inner->depth;
    }
    std::optional<int> deep = depth(atom);
    if (!deep)
        return exact;  // memory: replace() gives up
    if (*deep >= 0)
        return 2 * *deep + 1;
    // It does not change in the loop, but may speak of lets that stand inside.
    bool has_inner_names = contains(atom, [&](const ExprNode &node) {
        return node.op == Op::Variable && inner_.find(node.name);
    });
    return has_inner_names ? exact : final_term;
}

bool WorstCase::reduce(Linear sum, Bounds *out) {
    if (--effort_ < 0)
        return false;
    int highest = final_term;
    size_t next = 0;
    for (size_t i = 0; i < sum.terms.size(); i++) {
        int r = rank(sum.terms[i].atom);
        if (r > highest)
            highest = r, next = i;
    }
    return highest == final_term ? finish(sum, out) : replace(sum, next, out);
}

bool WorstCase::finish(Linear sum, Bounds *out) {
    divide_by_common_factor(&sum);
    if (constant_bounds(sum).lo >= 0)
        return true;
    int64_t c = factor(sum);
    if (c == 0)
        return false;
    Linear first = at_first(sum), last = at_last(sum);
    if (constant_bounds(c > 0 ? first : last).lo >= 0)
        return true;  // in every iteration
    if (constant_bounds(c > 0 ? last : first).hi < 0)
        return false;  // in no iteration
    out->push_back(sum);
    return true;
}

bool WorstCase::replace(const Linear &whole, size_t term, Bounds *out) {
    Linear::Term t = whole.terms[term];
    Linear sum = whole;
    sum.terms.erase(sum.terms.begin() + static_cast<std::ptrdiff_t>(term));
    const Expr &e = t.atom;
    if (is_widening_cast(e) || is_marker(*e.get()) || e->op == Op::Broadcast)
        return with(sum, e->args[0], t.coefficient, out);
    int64_t stride = 0;
    switch (e->op) {
    case Op::Variable:
        return replace_variable(sum, t, out);
    case Op::Ramp: {
        if (!as_const_int(e->stride(), &stride))
            return false;
        __int128 last = static_cast<__int128>(stride) * (e.type().lanes() - 1);
        __int128 worst = std::min<__int128>(0, last * t.coefficient);
        if (worst < INT64_MIN ||
            !sum.add(Linear::from_constant(sum.type, static_cast<int64_t>(worst))))
            return false;
        return with(sum, e->base(), t.coefficient, out);
    }
    case Op::Min:
    case Op::Max: {
        bool all_count = (e->op == Op::Min) == (t.coefficient > 0);
        return all_count ? every(sum, e->a(), e->b(), t.coefficient, out)
                         : either(sum, e->a(), e->b(), t.coefficient, out);
    }
    case Op::Select:
        return every(sum, e->if_true(), e->if_false(), t.coefficient, out);
    case Op::Div:
    case Op::Mod:
        return replace_division(sum, t, out);
    default:
        return false;
    }
}

bool WorstCase::replace_variable(const Linear &sum, const Linear::Term &t, Bounds *out) {
    const Inner *inner = inner_.find(t.atom->name);
    if (!inner)
        return false;  // a vector from outside
    if (inner->value.defined())
        return with(sum, inner->value, t.coefficient, out);
    return with(sum, t.coefficient > 0 ? inner->min : inner->max, t.coefficient, out);
}

/// floor(x / d) * d lies in [x - d + 1, x], x % d in [0, d - 1], for a constant d > 0.
bool WorstCase::replace_division(Linear sum, const Linear::Term &t, Bounds *out) {
    int64_t d = 0;
    if (!as_const_int(t.atom->b(), &d) || d <= 0)
        return false;
    if (const auto quotient = quotient_of(t.atom))
        return sum.add(*quotient, t.coefficient) && reduce(std::move(sum), out);
    if (const Linear operand = expanded(t.atom->a());
        t.atom->op == Op::Mod && t.atom.type().is_scalar() && operand.is_constant())
        return sum.add(Linear::from_constant(sum.type, operand.constant - floor_div(operand.constant, d) * d),
                       t.coefficient) &&
               reduce(std::move(sum), out);
    Linear slack = Linear::from_constant(sum.type, -(d - 1));
    if (t.atom->op == Op::Mod) {
        if (t.coefficient < 0 && !sum.add(slack, -t.coefficient))
            return false;
        return reduce(sum, out);
    }
    if (!sum.scale(d) || (t.coefficient > 0 && !sum.add(slack, t.coefficient)))
        return false;
    return with(sum, t.atom->a(), t.coefficient, out);
}

bool WorstCase::every(const Linear &sum, const Expr &a, const Expr &b, int64_t factor,
                      Bounds *out) {
    return with(sum, a, factor, out) && with(sum, b, factor, out);
}

/// One of the two must hold: better one that always does.
bool WorstCase::either(const Linear &sum, const Expr &a, const Expr &b, int64_t factor,
                       Bounds *out) {
    Bounds of_a, of_b;
    bool a_solved = with(sum, a, factor, &of_a);
    if (a_solved && of_a.empty())
        return true;
    bool b_solved = with(sum, b, factor, &of_b);
    if (!a_solved && !b_solved)
        return false;
    const Bounds &better = !a_solved || (b_solved && of_b.size() < of_a.size()) ? of_b : of_a;
    out->insert(out->end(), better.begin(), better.end());
    return true;
}

bool WorstCase::with(Linear sum, const Expr &e, int64_t factor, Bounds *out) {
    return accumulate(&sum, e, factor) && reduce(std::move(sum), out);
}

Linear WorstCase::at(const Bound &bound, const Expr &value) const {
    Linear result = bound;
    std::erase_if(result.terms, [&](const auto &t) {
        return t.atom->op == Op::Variable && t.atom->name == variable_->name;
    });
    return accumulate(&result, value, factor(bound)) ? result : bound;
}

/// `e` as it reads outside of the loop: lets of the loop's body by their values.
Expr WorstCase::outside(const Expr &e) const {
    std::map<std::string, Expr> values;
    for (const std::string &name : free_vars(e)) {
        const Inner *inner = inner_.find(name);
        if (inner && inner->value.defined())
            values[name] = outside(inner->value);
    }
    return values.empty() ? e : substitute(values, e);
}

Expr WorstCase::solve(const Bound &bound) const {
    int64_t c = factor(bound);
    Linear rest = at(bound, make_const(variable_.type(), 0));
    // c*v + rest >= 0: v >= -floor(rest / c) for c > 0, v <= floor(rest / -c) for c < 0.
    constexpr int64_t small = 1 << 28;  // sums of this size and of sizes of images stay in int32
    bool wide = std::abs(rest.constant) >= small || variable_.type().bits() == 64;
    for (const auto &t : rest.terms)
        wide |= t.atom.type().bits() == 64 || std::abs(t.coefficient) > 1 || !is_index(t.atom);
    rest.type = wide ? Int(64) : Int(32);
    for (auto &t : rest.terms)
        t.atom = make_cast(rest.type, t.atom);
    Expr quotient = div(outside(rest.to_expr()), make_int(rest.type, std::abs(c)));
    return c > 0 ? sub(make_int(rest.type, 0), quotient) : quotient;
}

}  // namespace Pipe::lower
