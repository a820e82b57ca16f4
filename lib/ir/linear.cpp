#include "ir/linear.h"

#include <algorithm>
#include <functional>
#include <map>

#include "ir/equal.h"
#include "ir/shared.h"

namespace Pipe::ir {
namespace {

using Term = Linear::Term;

/// A longer sum keeps some of its operands in parentheses.
constexpr int max_steps = 20000;

/// A sum with several parents that is as deep as this stays one term: along a chain of operations that each use the one
/// before twice, e = e + e % 7, sums of all that was added before would take quadratic space, in the code, too.
constexpr int deepest_shared = 48;

bool add_product(int64_t *sum, int64_t a, int64_t b) {
    int64_t product = 0;
    return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*sum, product, sum);
}

/// Adds up `exprs` left to right.
Expr chain(Op op, Expr sum, const std::vector<Expr> &exprs) {
    for (const Expr &e : exprs)
        sum = sum.defined() ? make_binary(op, sum, e) : e;
    return sum;
}

bool is_sum_or_product(const Expr &e) {
    return e->op == Op::Add || e->op == Op::Sub || e->op == Op::Mul;
}

Expr times(const Expr &e, int64_t factor) {
    return factor == 1 ? e : make_binary(Op::Mul, e, make_int(e.type(), factor));
}

}  // namespace

bool LinearBuilder::take_apart(const Term &t, std::vector<Term> *parts) {
    const auto &[e, factor] = t;
    int64_t c = 0, product = 0;
    if (as_const_int(e, &c)) {
        overflow_ |= !add_product(&sum_.constant, factor, c);
        return true;
    }
    if (++steps_ > max_steps)
        return false;
    switch (e->op) {
    case Op::Add:
        parts->push_back({e->b(), factor});
        parts->push_back({e->a(), factor});
        return true;
    case Op::Sub:
        if (factor == INT64_MIN)
            return false;
        parts->push_back({e->b(), -factor});
        parts->push_back({e->a(), factor});
        return true;
    case Op::Mul:
        for (int i : {1, 0}) {
            if (!as_const_int(e->args[i], &c))
                continue;
            if (__builtin_mul_overflow(factor, c, &product))
                return false;
            if (product != 0)
                parts->push_back({e->args[1 - i], product});
            return true;
        }
        return false;
    default:
        return false;
    }
}

void LinearBuilder::add(const Expr &e, int64_t factor) {
    // The left operand is on top: long sums lean to the left, so the work list stays short.
    std::vector<Term> work{{e, factor}};
    // A sum with several parents waits until all of them, which are deeper, have been expanded, so
    // that each sum is expanded only once.
    struct Deeper {
        bool operator()(const Expr &a, const Expr &b) const {
            return a->depth != b->depth ? a->depth > b->depth : std::less<>{}(a.get(), b.get());
        }
    };
    std::map<Expr, int64_t, Deeper> shared;
    while (!work.empty() || !shared.empty()) {
        if (work.empty()) {
            auto deepest = shared.begin();
            Term t{deepest->first, deepest->second};
            shared.erase(deepest);
            if (t.coefficient != 0 && !take_apart(t, &work))
                add_atom(t.atom, t.coefficient);
            continue;
        }
        Term t = std::move(work.back());
        work.pop_back();
        if (is_sum_or_product(t.atom) && is_shared(t.atom, 1)) {  // t holds one reference
            if (t.atom->depth > deepest_shared && !t.atom.same_as(e)) {
                add_atom(t.atom, t.coefficient);
                continue;
            }
            int64_t &all = shared[t.atom];
            overflow_ |= __builtin_add_overflow(all, t.coefficient, &all);
        } else if (!take_apart(t, &work)) {
            add_atom(t.atom, t.coefficient);
        }
    }
}

bool LinearBuilder::finish(Linear *result) {
    auto &terms = sum_.terms;
    std::stable_sort(terms.begin(), terms.end(),
                     [](const Term &a, const Term &b) { return compare(a.atom, b.atom) < 0; });
    size_t kept = 0;
    for (size_t i = 0; i < terms.size();) {
        Term t = std::move(terms[i++]);
        for (; i < terms.size() && equal(t.atom, terms[i].atom); i++)
            overflow_ |=
                __builtin_add_overflow(t.coefficient, terms[i].coefficient, &t.coefficient);
        if (t.coefficient != 0)
            terms[kept++] = std::move(t);
    }
    terms.resize(kept);
    *result = std::move(sum_);
    return !overflow_;
}

Linear Linear::from_expr(const Expr &e) {
    if (!has_no_overflow(e.type()))
        throw InternalError("Linear of type " + Pipe::to_string(e.type()));
    LinearBuilder builder(e.type());
    builder.add(e);
    Linear result;
    if (!builder.finish(&result))
        result = {e.type(), 0, {{e, 1}}};
    return result;
}

int64_t Linear::coefficient(const Expr &atom) const {
    auto found =
        std::lower_bound(terms.begin(), terms.end(), atom,
                         [](const Term &t, const Expr &e) { return compare(t.atom, e) < 0; });
    return found != terms.end() && equal(found->atom, atom) ? found->coefficient : 0;
}

bool Linear::add(const Linear &other, int64_t factor) {
    if (factor == 0)
        return true;
    Linear sum{type, constant, {}};
    if (!add_product(&sum.constant, other.constant, factor))
        return false;
    sum.terms.reserve(terms.size() + other.terms.size());
    auto a = terms.begin();
    auto b = other.terms.begin();
    while (a != terms.end() || b != other.terms.end()) {
        int order = a == terms.end() ? 1 : b == other.terms.end() ? -1 : compare(a->atom, b->atom);
        Term t{order <= 0 ? a->atom : b->atom, order <= 0 ? a->coefficient : 0};
        if (order >= 0 && !add_product(&t.coefficient, b->coefficient, factor))
            return false;
        if (order <= 0)
            ++a;
        if (order >= 0)
            ++b;
        if (t.coefficient != 0)
            sum.terms.push_back(std::move(t));
    }
    *this = std::move(sum);
    return true;
}

bool Linear::scale(int64_t factor) {
    Linear product{type, 0, {}};
    if (!product.add(*this, factor))
        return false;
    *this = std::move(product);
    return true;
}

bool Linear::representable() const {
    int64_t largest = type.max_int();
    return type.can_represent(constant) &&
           std::all_of(terms.begin(), terms.end(), [&](const Term &t) {
               return t.coefficient >= -largest && t.coefficient <= largest;
           });
}

Expr Linear::to_expr() const {
    struct Group {
        std::vector<Expr> plus, minus;
    };
    std::map<int64_t, Group, std::greater<>> groups;  // by absolute value of the coefficient
    for (const Term &t : terms) {
        Group &group = groups[std::abs(t.coefficient)];
        (t.coefficient > 0 ? group.plus : group.minus).push_back(t.atom);
    }

    Expr sum;
    for (const auto &[factor, group] : groups)
        if (!group.plus.empty())
            sum = chain(
                Op::Add, sum,
                {times(chain(Op::Sub, chain(Op::Add, Expr(), group.plus), group.minus), factor)});
    bool constant_first = !sum.defined() && (constant != 0 || terms.empty());
    if (constant_first)
        sum = make_int(type, constant);
    for (const auto &[factor, group] : groups) {
        if (!group.plus.empty())
            continue;
        Expr part = chain(Op::Add, Expr(), group.minus);
        sum = sum.defined() ? make_binary(Op::Sub, sum, times(part, factor)) : times(part, -factor);
    }
    if (constant_first || constant == 0)
        return sum;
    return make_binary(Op::Add, sum, make_int(type, constant));
}

std::optional<int64_t> constant_difference(const Expr &a, const Expr &b) {
    if (a.type() != b.type() || !has_no_overflow(a.type()))
        return std::nullopt;
    Linear difference = Linear::from_expr(a);
    if (!difference.add(Linear::from_expr(b), -1) || !difference.is_constant())
        return std::nullopt;
    return difference.constant;
}

namespace {

/// A vector as a sum: of what all lanes share, and of the rest.
struct SumOfLanes {
    Expr uniform;
    std::vector<Expr> others;

    explicit SumOfLanes(const Expr &e) : uniform(make_const(e.type().element_of(), 0)) { add(e); }

  private:
    void add(const Expr &e) {
        if (e->op == Op::Add) {
            add(e->a());
            add(e->b());
        } else if (e->op == Op::Broadcast) {
            uniform = make_binary(Op::Add, uniform, e->args[0]);
        } else if (e->op == Op::Ramp) {
            uniform = make_binary(Op::Add, uniform, e->base());
            others.push_back(
                make_ramp(make_const(uniform.type(), 0), e->stride(), e.type().lanes()));
        } else {
            others.push_back(e);
        }
    }
};

bool is_widened(const Expr &e) {
    return e->op == Op::Cast && has_no_overflow(e->args[0].type());
}

}  // namespace

std::optional<int64_t> constant_difference_of_lanes(const Expr &a, const Expr &b) {
    if (a.type() != b.type() || !has_no_overflow(a.type()))
        return std::nullopt;
    SumOfLanes first(a), second(b);
    auto difference = constant_difference(first.uniform, second.uniform);
    for (const Expr &e : first.others) {
        const auto same = std::find_if(second.others.begin(), second.others.end(),
                                       [&](const Expr &other) { return equal(e, other); });
        if (same != second.others.end()) {
            second.others.erase(same);
            continue;
        }
        const auto widened = std::find_if(second.others.begin(), second.others.end(), is_widened);
        if (!is_widened(e) || widened == second.others.end() || !difference)
            return std::nullopt;
        const auto inner = constant_difference_of_lanes(e->args[0], (*widened)->args[0]);
        if (!inner)
            return std::nullopt;
        *difference += *inner;
        second.others.erase(widened);
    }
    return second.others.empty() ? difference : std::nullopt;
}

bool prove_le(const Expr &a, const Expr &b) {
    auto difference = constant_difference(a, b);
    return difference && *difference <= 0;
}

bool prove_lt(const Expr &a, const Expr &b) {
    auto difference = constant_difference(a, b);
    return difference && *difference < 0;
}

}  // namespace Pipe::ir
