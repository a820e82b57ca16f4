#include "region/interval.h"

#include <optional>

#include "ir/equal.h"
#include "ir/linear.h"
#include "region/conditions.h"

namespace Pipe::region {

using namespace ir;

Expr lesser(const Expr &a, const Expr &b) {
    if (index_type(a.type()))
        if (std::optional<int64_t> d = constant_difference(a, b))
            return *d <= 0 ? a : b;
    return ir::min(a, b);
}

Expr greater(const Expr &a, const Expr &b) {
    if (index_type(a.type()))
        if (std::optional<int64_t> d = constant_difference(a, b))
            return *d >= 0 ? a : b;
    return ir::max(a, b);
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
