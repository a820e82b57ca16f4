#include "ir/facts.h"

#include <algorithm>
#include <numeric>

#include "ir/intrinsics.h"
#include "ir/substitute.h"
#include "support/integers.h"

namespace Pipe::ir {
namespace {

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
        flipped ? ConstantInterval{ConstantInterval::minus_infinity, -least}
                : ConstantInterval{least, ConstantInterval::plus_infinity};
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
