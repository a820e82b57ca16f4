#include "reference/grid.h"

#include <algorithm>

#include <pipe/error.h>

namespace Pipe::reference {

bool Box::contains(const Point &p) const {
    if (empty)
        return false;
    for (size_t d = 0; d < p.size(); d++) {
        if (p[d] < lo[d] || p[d] > hi[d])
            return false;
    }
    return true;
}

void Box::include(const Point &p) {
    if (empty) {
        lo = hi = p;
        empty = false;
    }
    for (size_t d = 0; d < p.size(); d++) {
        lo[d] = std::min(lo[d], p[d]);
        hi[d] = std::max(hi[d], p[d]);
    }
}

size_t Grid::index(const Point &p) const {
    size_t result = 0;
    for (size_t d = p.size(); d-- > 0;)
        result = result * static_cast<size_t>(box_.hi[d] - box_.lo[d] + 1) +
                 static_cast<size_t>(p[d] - box_.lo[d]);
    return result * elements_;
}

Value Grid::get(const Point &p, size_t element) const {
    Value value;
    value.state = Value::State::Fresh;
    if (!box_.contains(p))
        return value;
    size_t i = index(p) + element;
    value.state = states_[i];
    value.i = bits_[i];
    return value;
}

void Grid::set(const Point &p, size_t element, Value value) {
    if (!box_.contains(p))
        make_room_for(p);
    size_t i = index(p) + element;
    states_[i] = value.state;
    bits_[i] = value.i;
}

void Grid::clear() {
    std::fill(states_.begin(), states_.end(), Value::State::Fresh);
}

/// Points usually come in rows: growing by half in the direction of growth limits reallocations.
void Grid::make_room_for(const Point &p) {
    Box grown = box_;
    grown.include(p);
    for (size_t d = 0; d < p.size() && !box_.empty; d++) {
        int64_t more = (box_.hi[d] - box_.lo[d] + 1) / 2;
        if (p[d] < box_.lo[d])
            grown.lo[d] = std::min(grown.lo[d], box_.lo[d] - more);
        if (p[d] > box_.hi[d])
            grown.hi[d] = std::max(grown.hi[d], box_.hi[d] + more);
    }
    reserve(grown);
}

void Grid::reserve(const Box &box) {
    if (box.empty)
        return;
    Grid grown(box.lo.size(), elements_);
    grown.box_ = box;
    if (!box_.empty) {
        grown.box_.include(box_.lo);
        grown.box_.include(box_.hi);
    }
    double points = static_cast<double>(elements_);
    for (size_t d = 0; d < box.lo.size(); d++)
        points *= static_cast<double>(grown.box_.hi[d] - grown.box_.lo[d] + 1);
    if (points > 2e9) {
        throw RuntimeError("The reference evaluator would have to store " + std::to_string(points) +
                           " values of one Func: the requested region is too large for it.");
    }
    grown.bits_.resize(static_cast<size_t>(points));
    grown.states_.resize(static_cast<size_t>(points), Value::State::Fresh);
    for_each_point(box_, [&](const Point &p) {
        for (size_t e = 0; e < elements_; e++)
            grown.set(p, e, get(p, e));
    });
    *this = std::move(grown);
}

}  // namespace Pipe::reference
