#include "poly/alignment.h"

namespace Pipe::poly {

bool merge(Coordinate &a, const Coordinate &b) {
    a.range = hull(a.range, b.range);
    const bool same_rate = a.iterator == b.iterator && a.num * b.den == b.num * a.den &&
                           a.distance.bounded() && b.distance.bounded();
    if (!same_rate) {
        Coordinate unknown;
        unknown.range = a.range;
        unknown.may_use = uses(a) | uses(b);
        unknown.reductions = a.reductions | b.reductions;
        a = unknown;
        return false;
    }
    a.may_use |= b.may_use;
    a.reductions |= b.reductions;
    const int64_t den = a.den;
    if (a.den != b.den) {  // to a common denominator
        a.distance = a.distance * b.den;
        a.steady = a.steady * b.den;
        a.num *= b.den;
        a.den *= b.den;
    }
    const int64_t scale = a.den == b.den ? 1 : den;
    a.distance = hull(a.distance, b.distance * scale);
    a.steady = hull(a.steady, b.steady * scale);
    a.constant = a.constant && b.constant;
    a.turns |= b.turns;
    a.period = a.period == b.period ? a.period : 0;
    return a.constant;
}

Alignment align(const std::vector<int> &dims, const std::vector<GroupEdge> &edges) {
    Alignment result;
    result.region.resize(dims.size());
    for (int d = 0; d < dims[0]; d++) {
        Coordinate self;
        self.iterator = d;
        self.num = 1;
        self.distance = self.steady = Range::point(0);
        self.constant = true;
        result.region[0].push_back(self);
    }
    for (const GroupEdge &edge : edges) {
        const Access access =
            compose(*edge.access, result.region[static_cast<size_t>(edge.consumer)]);
        std::vector<Coordinate> &region = result.region[static_cast<size_t>(edge.producer)];
        const bool first = region.empty();
        for (size_t d = 0; d < access.coords.size(); d++) {
            if (first) {
                region.push_back(access.coords[d]);
                result.constant &= access.coords[d].constant && access.coords[d].distance.bounded();
            } else {
                result.constant &= merge(region[d], access.coords[d]);
            }
        }
    }
    return result;
}

}  // namespace Pipe::poly
