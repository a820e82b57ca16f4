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

}  // namespace

void NotedBounds::limit(Expr &first, Expr &last) const {
    for (const Linear &bound : bounds_) {
        Expr end = worst_.solve(bound);
        const bool is_first = worst_.factor(bound) > 0;
        Expr &so_far = is_first ? first : last;
        so_far = so_far.defined() ? tighter(is_first, so_far, end) : end;
    }
}

bool NotedBounds::assume(const Linear &sum, int gain) {
    auto bounds = worst_.bounds(sum);
    if (!bounds)
        return false;
    for (Linear &bound : *bounds)
        note(std::move(bound));
    saved += gain;
    return true;
}

/// The noted bound that differs from this one by a constant, if there is one.
std::vector<Linear>::iterator NotedBounds::noted_like(const Linear &bound) {
    return std::find_if(bounds_.begin(), bounds_.end(), [&](const Linear &other) {
        Linear rest = other;
        return rest.add(bound, -1) && rest.is_constant();
    });
}

void NotedBounds::note(Linear bound) {
    auto found = noted_like(bound);
    if (found == bounds_.end())
        bounds_.push_back(std::move(bound));
    else
        found->constant = std::min(found->constant, bound.constant);
}

bool NotedBounds::follows(const Linear &sum, int gain) {
    auto bounds = worst_.bounds(sum);
    if (!bounds || !std::all_of(bounds->begin(), bounds->end(), [&](const Linear &bound) {
            auto found = noted_like(bound);
            return found != bounds_.end() && found->constant <= bound.constant;
        }))
        return false;
    saved += gain;
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

}  // namespace Pipe::lower
