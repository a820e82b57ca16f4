#include "lower/noted_bounds.h"

#include <algorithm>
#include <utility>

#include "ir/constant_bounds.h"

namespace Pipe::lower {

using namespace ir;

namespace {

Expr tighter(bool is_first, Expr a, Expr b) {
    if (a.type() != b.type())
        a = make_cast(Int(64), a), b = make_cast(Int(64), b);
    return is_first ? ir::max(a, b) : ir::min(a, b);
}

/// The bound of these that differs from this one by a constant, if there is one.
template <typename Bounds> auto find_like(Bounds &bounds, const Linear &bound) {
    return std::find_if(bounds.begin(), bounds.end(), [&](const Linear &other) {
        Linear rest = other;
        return rest.add(bound, -1) && rest.is_constant();
    });
}

bool implied_by(const std::vector<Linear> &bounds, const Linear &bound) {
    auto found = find_like(bounds, bound);
    return found != bounds.end() && found->constant <= bound.constant;
}

}  // namespace

void NotedBounds::limit(Expr &first, Expr &last) const {
    for (const Linear &bound : bounds_) {
        Expr end = worst_.solve(bound);
        const bool is_first = worst_.factor(bound) > 0;
        Expr &so_far = is_first ? first : last;
        so_far = so_far.defined() ? tighter(is_first, so_far, end) : end;
    }
}

bool NotedBounds::assume(const Linear &sum, const Gain &gain) {
    auto bounds = worst_.bounds(sum);
    if (!bounds || (only_always && !bounds->empty()))
        return false;
    count(gain, bounds->empty());
    for (Linear &bound : *bounds)
        note(std::move(bound));
    return true;
}

void NotedBounds::note(Linear bound) {
    auto found = find_like(bounds_, bound);
    if (found == bounds_.end())
        bounds_.push_back(std::move(bound));
    else
        found->constant = std::min(found->constant, bound.constant);
}

bool NotedBounds::follows(const Linear &sum, const Gain &gain) {
    auto bounds = worst_.bounds(sum);
    if (!bounds || !std::all_of(bounds->begin(), bounds->end(), [&](const Linear &bound) {
            return implied_by(bounds_, bound) || implied_by(known_.bounds, bound);
        }))
        return false;
    count(gain, bounds->empty());
    return true;
}

Want NotedBounds::rule(const Linear &sum) const {
    auto bounds = worst_.bounds(sum);
    if (!bounds || bounds->empty())
        return Want::Any;
    Want result = Want::Any;
    for (const Linear &bound : *bounds) {
        bool late = worst_.factor(bound) > 0;
        ConstantInterval first = constant_bounds(worst_.at_first(bound));
        ConstantInterval last = constant_bounds(worst_.at_last(bound));
        ConstantInterval holds = late ? last : first, fails = late ? first : last;
        bool longer = !holds.has_hi() || (fails.has_lo() && holds.hi >= -fails.lo);
        if (!longer)
            return Want::False;
        if (fails.has_lo())
            result = Want::True;
    }
    return result;
}

std::optional<bool> NotedBounds::known_outcome(const Expr &comparison) const {
    for (const auto &[known, outcome] : known_.outcomes)
        if (known.same_as(comparison))
            return outcome;
    return {};
}

Want NotedBounds::usual(const Expr &comparison, Want want, const Linear &sum) const {
    if (const auto known = known_outcome(comparison))
        return *known ? Want::True : Want::False;
    return want == Want::Any || want == Want::Either ? rule(sum) : want;
}

bool NotedBounds::fails_rarely(const Linear &bound) const {
    // Iterations; or the part of a loop of known length.
    constexpr int64_t few = 4;
    const int64_t factor = worst_.factor(bound);
    const ConstantInterval first = constant_bounds(worst_.at_first(bound)),
                           last = constant_bounds(worst_.at_last(bound));
    const ConstantInterval &holds = factor > 0 ? last : first, &fails = factor > 0 ? first : last;
    return fails.has_lo() && -fails.lo <= few * std::abs(factor) &&
           (!holds.has_hi() || -fails.lo <= holds.hi / few);
}

void NotedBounds::note_choice(const Expr &comparison, bool outcome, const Linear &sum) {
    if (known_outcome(comparison))
        return;
    const auto bounds = worst_.bounds(sum);
    for (const Linear &bound : *bounds)
        if (!fails_rarely(bound))
            choices_.push_back({comparison, outcome, bound});
}

Rest NotedBounds::rest(bool before) const {
    Rest result{known_.bounds, {}};
    for (const Choice &choice : choices_)
        if (limits(choice.bound, before))
            result.outcomes.emplace_back(choice.comparison, !choice.outcome);
    std::vector<Linear> left;  // of these, one fails
    for (const Linear &bound : bounds_)
        if (limits(bound, before))
            left.push_back(bound);
        else if (!before)  // a steady state that is empty ends where it begins
            result.bounds.push_back(bound);
    if (left.size() == 1 && left[0].scale(-1) &&
        left[0].add(Linear::from_constant(left[0].type, -1)))
        result.bounds.push_back(left[0]);
    return result;
}

}  // namespace Pipe::lower
