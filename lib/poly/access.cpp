#include "poly/access.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace Pipe::poly {

bool Access::same_element(const Access &other) const {
    if (!same_buffer(other))
        return false;
    const bool exact =
        std::all_of(coords.begin(), coords.end(), [](const Coordinate &c) { return c.exact(); });
    return exact && coords == other.coords;
}

uint64_t uses(const Coordinate &c) {
    return c.may_use | (c.iterator >= 0 ? uint64_t{1} << c.iterator : 0);
}

uint64_t uses(const Access &access) {
    uint64_t result = 0;
    for (const Coordinate &c : access.coords)
        result |= uses(c);
    return result;
}

Range touched(const Coordinate &coord, const Range &tile) {
    if (tile.is_empty())
        return Range::empty();
    if (!coord.distance.bounded())
        return coord.range;
    const Range scaled = coord.iterator < 0 ? Range::point(0) : tile * coord.num;
    const Range sum = scaled + coord.distance;
    if (!sum.bounded())
        return coord.range;
    return intersect(coord.range, {ceil_div(sum.min, coord.den), floor_div(sum.max, coord.den)});
}

Coordinate compose(const Coordinate &outer, const std::vector<Coordinate> &inner) {
    Coordinate result = outer;
    result.may_use = result.reductions = 0;
    result.follows = -1;
    for (size_t k = 0; k < inner.size(); k++) {
        if (outer.may_use >> k & 1) {
            result.may_use |= uses(inner[k]);
            result.reductions |= inner[k].reductions;
            if (inner[k].iterator < 0 || inner[k].num != inner[k].den)
                result.period = 0;
        }
    }
    if (outer.iterator < 0)
        return result;
    const Coordinate &in = inner[static_cast<size_t>(outer.iterator)];
    result.reductions |= in.reductions;
    if (outer.num == 1 && outer.den == 1 && outer.distance.is_point())
        result.follows = in.follows;
    result.iterator = in.iterator;
    result.period = in.period;
    result.turns |= in.turns;
    result.may_use |= in.may_use;
    result.constant = outer.constant && in.constant;
    if (!outer.distance.bounded() || !in.distance.bounded()) {
        result.may_use |= uses(in);
        result.distance = result.steady = {};
        result.iterator = -1;
        result.num = 0;
        return result;
    }
    // den_o * x = num_o * y + d_o and den_i * y = num_i * i + d_i give
    // (den_i * den_o) * x = (num_o * num_i) * i + num_o * d_i + den_i * d_o.
    result.num = outer.num * in.num;
    result.den = outer.den * in.den;
    result.distance = in.distance * outer.num + outer.distance * in.den;
    result.steady = in.steady * outer.num + outer.steady * in.den;
    if (result.iterator < 0)
        result.num = 0;
    const int64_t common = std::gcd(result.num, result.den);
    auto is_multiple = [&](const Range &r) { return r.min % common == 0 && r.max % common == 0; };
    if (common > 1 && is_multiple(result.distance) && is_multiple(result.steady)) {
        result.num /= common;
        result.den /= common;
        for (Range *r : {&result.distance, &result.steady})
            *r = {r->min / common, r->max / common};
    }
    if (in.range.bounded())
        result.range = intersect(outer.range, touched(outer, in.range));
    return result;
}

Access compose(const Access &producer_access, const std::vector<Coordinate> &inner) {
    Access result = producer_access;
    result.replaceable = false;
    for (Coordinate &c : result.coords)
        c = compose(c, inner);
    return result;
}

std::string to_string(const Coordinate &c) {
    if (!c.distance.bounded())
        return std::string(1, '?');
    const bool moves = c.iterator >= 0;
    std::string text = !moves       ? std::string()
                       : c.num == 1 ? fmt::format("i{}", c.iterator)
                                    : fmt::format("{}*i{}", c.num, c.iterator);
    if (moves && c.den != 1)
        text += fmt::format("/{}", c.den);
    const Range &d = c.distance;
    if (!d.is_point() || c.den != 1) {
        text += fmt::format("{}[{}, {}]", moves ? " + " : "", d.min, d.max);
        if (c.den != 1)
            text += fmt::format("/{}", c.den);
    } else if (!moves) {
        text = fmt::format("{}", d.min);
    } else if (d.min != 0) {
        text += fmt::format(" {} {}", d.min < 0 ? '-' : '+', std::abs(d.min));
    }
    return text;
}

}  // namespace Pipe::poly
