#include "ir/facts.h"

#include <algorithm>
#include <numeric>

#include "ir/intrinsics.h"
#include "ir/substitute.h"
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

/// sum >= 0, divided by the common factor of its terms.
Linear divide_by_gcd(Linear sum) {
    int64_t g = 0;
    for (const auto &t : sum.terms)
        g = std::gcd(g, t.coefficient);
    if (g <= 1)
        return sum;
    for (auto &t : sum.terms)
        t.coefficient /= g;
    sum.constant = -ceil_div(-sum.constant, g);
    return sum;
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

std::optional<ConstantInterval> Facts::find(const std::string &name) const {
    for (const Facts *facts = this; facts; facts = facts->outer_)
        if (const ConstantInterval *found = facts->intervals_.find(name))
            return *found;
    return std::nullopt;
}

void Facts::bound(const std::string &name, const ConstantInterval &interval) {
    auto known = find(name);
    ConstantInterval now = known ? intersection(*known, interval) : interval;
    // Contradictory facts hold nowhere, so any answer is valid; intervals must stay well formed.
    if (now.empty() || (known && now == *known) || now == ConstantInterval::everything())
        return;
    intervals_.push(name, now);
    log_.push_back(name);
}

void Facts::assume_non_negative(const Linear &sum) {
    if (sum.is_constant() || sum.constant == INT64_MIN)
        return;
    Linear reduced = divide_by_gcd(sum);
    int64_t least = -reduced.constant;  // of the terms
    const Linear::Term &first = reduced.terms[0];
    bool flipped = first.coefficient < 0;
    ConstantInterval bounds =
        flipped ? ConstantInterval{minus_infinity, -least} : ConstantInterval{least, plus_infinity};
    if (reduced.terms.size() == 1 && first.atom->op == Op::Variable) {
        bound(first.atom->name, bounds);
        return;
    }
    reduced.constant = 0;
    if (flipped && !reduced.scale(-1))
        return;
    relations_.push_back({std::move(reduced), bounds});
    log_.emplace_back();

    // A lower bound on a minimum bounds both of its operands.
    for (const auto &t : sum.terms) {
        if (t.atom->op != (t.coefficient > 0 ? Op::Min : Op::Max))
            continue;
        for (const Expr &operand : t.atom->args) {
            Linear weaker = sum;
            if (weaker.add(Linear::from_expr(t.atom), -t.coefficient) &&
                weaker.add(Linear::from_expr(operand), t.coefficient))
                assume_non_negative(weaker);
        }
        break;
    }
}

void Facts::assume(const Expr &condition) {
    if (condition->op == Op::And)
        return assume(condition->a()), assume(condition->b());
    if (condition->op == Op::Not)
        return assume_false(condition->value());
    if (is_intrinsic(*condition.get(), intrinsic::likely))
        return assume(condition->args[0]);
    if (!is_comparison(condition->op))
        return;
    const Expr &a = condition->a(), &b = condition->b();
    if (!has_no_overflow(a.type()) || a.type().is_vector())
        return;
    auto at_least = [&](const Expr &x, const Expr &y, int64_t distance) {  // x - y >= distance
        Linear sum = Linear::from_expr(x);
        if (sum.add(Linear::from_expr(y), -1) &&
            !__builtin_sub_overflow(sum.constant, distance, &sum.constant))
            assume_non_negative(sum);
    };
    switch (condition->op) {
    case Op::LT:
        return at_least(b, a, 1);
    case Op::LE:
        return at_least(b, a, 0);
    case Op::GT:
        return at_least(a, b, 1);
    case Op::GE:
        return at_least(a, b, 0);
    case Op::EQ:
        return at_least(a, b, 0), at_least(b, a, 0);
    default:
        return;
    }
}

void Facts::assume_false(const Expr &condition) {
    switch (condition->op) {
    case Op::Or:
        return assume_false(condition->a()), assume_false(condition->b());
    case Op::Not:
        return assume(condition->value());
    case Op::LT:
        return assume(make_binary(Op::GE, condition->a(), condition->b()));
    case Op::LE:
        return assume(make_binary(Op::GT, condition->a(), condition->b()));
    case Op::GT:
        return assume(make_binary(Op::LE, condition->a(), condition->b()));
    case Op::GE:
        return assume(make_binary(Op::LT, condition->a(), condition->b()));
    case Op::NE:
        return assume(make_binary(Op::EQ, condition->a(), condition->b()));
    case Op::Call:
        if (condition->name == intrinsic::likely)
            assume_false(condition->args[0]);
        return;
    default:
        return;
    }
}

void Facts::rewind(size_t mark) {
    for (; log_.size() > mark; log_.pop_back()) {
        if (log_.back().empty())
            relations_.pop_back();
        else
            intervals_.pop(log_.back());
    }
}

bool Facts::mentions(const std::string &name) const {
    for (const Facts *facts = this; facts; facts = facts->outer_) {
        if (facts->intervals_.contains(name))
            return true;
        for (const Relation &r : facts->relations_)
            for (const auto &t : r.sum.terms)
                if (uses_var(t.atom, name))
                    return true;
    }
    return false;
}

}  // namespace Pipe::ir
