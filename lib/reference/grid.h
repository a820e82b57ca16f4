#pragma once
// Storage for the values of one Func at the requested points.

#include <cstdint>
#include <vector>

#include "reference/value.h"

namespace Pipe::reference {

using Point = std::vector<int64_t>;

/// A box of points, both ends inclusive. Empty if lo[d] > hi[d] for some d.
struct Box {
    Point lo, hi;

    explicit Box(size_t dimensions = 0) : lo(dimensions, 1), hi(dimensions, 0), empty(true) {}
    bool contains(const Point &p) const;
    void include(const Point &p);
    bool operator==(const Box &) const = default;

    bool empty;  ///< also for a box with zero dimensions, which otherwise has one point
};

/// Calls f(point) for every point of the box, dimension 0 innermost.
template <typename F> void for_each_point(const Box &box, F &&f) {
    if (box.empty)
        return;
    for (size_t d = 0; d < box.lo.size(); d++) {
        if (box.lo[d] > box.hi[d])
            return;
    }
    Point p = box.lo;
    while (true) {
        f(static_cast<const Point &>(p));
        size_t d = 0;
        for (; d < p.size() && p[d] == box.hi[d]; d++)
            p[d] = box.lo[d];
        if (d == p.size())
            return;
        p[d]++;
    }
}

/// Values at points, `elements` of them per point. Grows as points are added; a point that was
/// never written has values in the state Fresh.
class Grid {
  public:
    Grid(size_t dimensions, size_t elements) : box_(dimensions), elements_(elements) {}

    Value get(const Point &p, size_t element) const;
    void set(const Point &p, size_t element, Value value);
    /// Reserves memory for all points of `box`, so that adding them does not reallocate.
    void reserve(const Box &box);
    void clear();

  private:
    size_t index(const Point &p) const;
    void make_room_for(const Point &p);

    Box box_;  ///< the allocated region
    size_t elements_;
    std::vector<int64_t> bits_;
    std::vector<Value::State> states_;
};

}  // namespace Pipe::reference
