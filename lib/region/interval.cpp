#include "region/interval.h"

#include <optional>

#include "ir/equal.h"
#include "ir/linear.h"
#include "region/conditions.h"

namespace Pipe::region {

using namespace ir;

namespace {

/// Of max(p, r) and max(q, r), or of min(..) and min(..): p, q and r. What several clamped coordinates need is so one clamp,
/// of the outermost of them.
struct SharedBound {
    Expr p, q, r;
};
std::optional<SharedBound> shared_bound(const Expr &a, const Expr &b) {
    if (a->op != b->op || (a->op != Op::Min && a->op != Op::Max))
        return std::nullopt;
    for (size_t i : {1, 0})
        for (size_t j : {1, 0})
            if (equal(a->args[i], b->args[j]))
                return SharedBound{a->args[1 - i], b->args[1 - j], a->args[i]};
    return std::nullopt;
}

/// The lesser or the greater of two.
Expr end_of(const Expr &a, const Expr &b, bool is_min) {
    if (!index_type(a.type()))
        return is_min ? ir::min(a, b) : ir::max(a, b);
    if (std::optional<int64_t> d = constant_difference(a, b))
        return (*d <= 0) == is_min ? a : b;
    if (const auto shared = shared_bound(a, b))
        return make_binary(a->op, end_of(shared->p, shared->q, is_min), shared->r);
    return is_min ? ir::min(a, b) : ir::max(a, b);
}

}  // namespace

Expr lesser(const Expr &a, const Expr &b) {
    return end_of(a, b, true);
}

Expr greater(const Expr &a, const Expr &b) {
    return end_of(a, b, false);
}

Interval hull(const Interval &a, const Interval &b) {
    if (a.is_point() && b.is_point() && a.min.same_as(b.min))
        return a;
    auto either = [](const Expr &p, const Expr &q, Expr (*end)(const Expr &, const Expr &)) {
        return p.defined() && q.defined() ? end(p, q) : Expr();
    };
    return {either(a.min, b.min, lesser), either(a.max, b.max, greater)};
}

Interval intersect(const Interval &a, const Interval &b) {
    return {!a.min.defined()   ? b.min
            : !b.min.defined() ? a.min
                               : greater(a.min, b.min),
            !a.max.defined()   ? b.max
            : !b.max.defined() ? a.max
                               : lesser(a.max, b.max)};
}

Expr constant_end(Type type, int64_t number) {
    return type.can_represent(number) ? make_int(type, number) : Expr();
}

void IntervalScope::assume(const Expr &e, const Interval &interval) {
    for (auto &[other, known] : known_)
        if (equal(other, e)) {
            known = intersect(known, interval);
            return;
        }
    known_.emplace_back(e, interval);
}

Interval IntervalScope::known_bounds(const Expr &e) const {
    for (const auto &[other, known] : known_)
        if (other->op == e->op && equal(other, e))
            return known;
    return Interval::everything();
}

void merge(Box &box, const Box &other) {
    if (box.empty()) {
        box = other;
        return;
    }
    for (size_t d = 0; d < box.size(); d++)
        box[d] = hull(box[d], other[d]);
}

std::string values_name(const std::string &func, int element) {
    return "values of " + func + "." + std::to_string(element);
}

}  // namespace Pipe::region
