#include "predict/footprint.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace Pipe::predict {

namespace {

Group group_of(const Access &a, const std::vector<BufferInfo> &buffers) {
    Group g;
    g.buffer = a.buffer, g.stage = a.stage, g.store = a.store, g.chance = a.chance;
    g.element = a.bytes;
    g.first = a.index.value * a.bytes;
    const double lanes = std::abs(a.index.lane_step) * a.bytes;
    const bool apart = lanes >= line_bytes && !a.index.data;
    const double reach = apart ? 0 : a.index.lane_step * (a.lanes - 1) * a.bytes;
    g.lo = std::min(0.0, reach), g.hi = std::max(0.0, reach) + a.bytes;
    if (apart)
        g.dims.push_back({Group::lanes_of_vector, lanes, double(a.lanes)});
    g.data = a.index.data;
    g.loops = a.index.loops;
    g.lanes = a.index.even ? 1 : a.lanes;
    if (g.data) {
        const double all = buffers[static_cast<size_t>(a.buffer)].bytes;
        g.range = (a.index.hi - a.index.lo + 1) * a.bytes;
        if (!(g.range < all) && all > 0)
            g.range = all;
        if (!std::isfinite(g.range))
            g.range = 0;
    }
    for (const Term &t : a.index.terms)
        g.dims.push_back({t.loop, std::abs(t.step) * a.bytes, t.distinct});
    std::stable_sort(g.dims.begin(), g.dims.end(),
                     [](const Group::Dim &x, const Group::Dim &y) { return x.step < y.step; });
    return g;
}

bool same_shape(const Group &a, const Group &b) {
    if (a.buffer != b.buffer || a.stage != b.stage || a.store != b.store || a.data != b.data)
        return false;
    auto next = [](const Group &g, size_t &at) {
        while (at < g.dims.size() && g.dims[at].loop == Group::copies)
            at++;
        return at < g.dims.size() ? &g.dims[at++] : nullptr;
    };
    for (size_t i = 0, j = 0;;) {
        const Group::Dim *x = next(a, i), *y = next(b, j);
        if (!x || !y)
            return !x && !y;
        if (x->loop != y->loop || x->step != y->step)
            return false;
    }
}

/// Whether the places between the accesses of the group and others so many steps away in several dimensions are many: the
/// distance between rows that are unrolled, written as tiles and vectors of the loops along a row.
bool is_far_across(const Group &g, const std::vector<double> &steps) {
    constexpr double most_places = 16;
    double places = 1;
    int across = 0;
    for (size_t d = 0; d < g.dims.size(); d++) {
        const double beyond = std::max({0.0, steps[d] - g.dims[d].hi, g.dims[d].lo - steps[d]});
        places *= 1 + beyond;
        across += beyond > 0;
    }
    return across > 1 && places > most_places;
}

/// Takes a distance apart into steps of the group's dimensions, large ones first. Returns the rest; nothing
/// if it is many steps beyond the accesses of the group: the places between would be taken to be accessed, too.
std::optional<double> steps_to(const Group &g, double away, std::vector<double> &steps) {
    constexpr double most = 16;
    const double distance = away;
    steps.assign(g.dims.size(), 0);
    for (size_t d = g.dims.size(); d-- > 0;) {
        const double step = g.dims[d].step;
        double k = std::round(away / step);
        if (std::abs(away - k * step) > 0.1 * step)
            k = std::trunc(away / step);
        if (step < line_bytes / 2 || k == 0)
            continue;
        const bool is_copy = g.dims[d].loop == Group::copies;
        // As many steps as the loop makes: not the same places in other iterations, but other ones.
        const double limit = is_copy ? most : std::min(most, std::max(1.0, g.dims[d].distinct - 1));
        if (k < g.dims[d].lo - limit || k > g.dims[d].hi + limit) {
            if (!is_copy)
                continue;
            return std::nullopt;
        }
        steps[d] = k;
        away -= k * step;
    }
    if (is_far_across(g, steps)) {
        steps.assign(g.dims.size(), 0);
        return distance;
    }
    return away;
}

/// Adds the other group. Accesses of unrolled statements, a row apart for example, make a dimension.
bool merge(Group &g, const Group &other) {
    if (!same_shape(g, other))
        return false;
    g.chance = std::max(g.chance, other.chance);
    if (g.data) {
        g.lanes += other.lanes;
        return true;
    }
    std::vector<double> steps;
    std::optional<double> rest = steps_to(g, other.first - g.first, steps);
    if (!rest)
        return false;
    const double near = std::max(4 * line_bytes, g.hi - g.lo + line_bytes);
    if (std::abs(*rest) > near) {
        const auto count = std::count_if(g.dims.begin(), g.dims.end(), [](const Group::Dim &d) {
            return d.loop == Group::copies;
        });
        if (count >= 3)
            return false;
        const Group::Dim copies{Group::copies, std::abs(*rest), 1};
        g.dims.insert(std::upper_bound(
                          g.dims.begin(), g.dims.end(), copies,
                          [](const Group::Dim &a, const Group::Dim &b) { return a.step < b.step; }),
                      copies);
        rest = steps_to(g, other.first - g.first, steps);
        if (!rest || std::abs(*rest) > near)
            return false;
    }
    for (size_t d = 0, o = 0; d < g.dims.size(); d++) {
        Group::Dim &dim = g.dims[d];
        double lo = steps[d], hi = steps[d];
        if (dim.loop != Group::copies) {
            while (other.dims[o].loop == Group::copies)
                o++;
            lo += other.dims[o].lo, hi += other.dims[o].hi;
            dim.distinct = std::max(dim.distinct, other.dims[o].distinct);
            o++;
        }
        dim.lo = std::min(dim.lo, lo), dim.hi = std::max(dim.hi, hi);
    }
    g.lo = std::min(g.lo, *rest + other.lo), g.hi = std::max(g.hi, *rest + other.hi);
    return true;
}

Footprint of_data(const Group &g, int from) {
    double places = g.lanes;
    for (size_t d = static_cast<size_t>(std::max(0, from)); d < g.trips.size(); d++)
        if (g.loops & loop_bit(static_cast<int>(d)))
            places *= g.trips[d];
    const double range =
        g.range > 0 ? std::ceil(g.range / line_bytes) * line_bytes : places * line_bytes;
    // Of n lines, k accesses at random touch n (1 - e^(-k / n)).
    const double lines = range / line_bytes, touched = lines * (1 - std::exp(-places / lines));
    return {touched * line_bytes, touched * line_bytes, touched, touched,
            g.first - range / 2,  g.first + range / 2};
}

}  // namespace

void Groups::add(const Group &group) {
    std::vector<Group> &same = groups_[group.buffer];
    if (std::none_of(same.begin(), same.end(), [&](Group &other) { return merge(other, group); }))
        same.push_back(group);
}

void Groups::add(const Access &access, const std::vector<double> &trips) {
    Group group = group_of(access, *buffers_);
    if (group.data)
        group.trips = trips;
    add(group);
}

Footprint footprint(const Group &g, int from, const BufferInfo &buffer) {
    double run = g.hi - g.lo, lo = g.first + g.lo, hi = g.first + g.hi;
    Footprint random;
    if (g.data) {
        random = of_data(g, from);
        run = std::max(line_bytes, random.bytes);
        lo = random.lo, hi = random.hi;
    }
    support::cache::Steps steps;
    for (const Group::Dim &d : g.dims) {
        const double inside = d.loop >= from ? d.distinct : 1;
        const double count = inside + d.hi - d.lo;
        lo += d.step * (d.lo - (inside - 1) / 2), hi += d.step * (d.hi + (inside - 1) / 2);
        if (count <= 1)
            continue;
        if (steps.empty() && d.step < run + line_bytes)
            run += d.step * (count - 1);
        else
            steps.add(d.step, count);
    }
    double runs = 1;
    for (const auto &[step, count] : steps)
        runs *= count;
    const double first = g.first + g.lo;
    const double offset = first - line_bytes * std::floor(first / line_bytes);
    const double per_run = g.data ? run : support::cache::in_lines(offset, run, g.element, steps);
    double bytes = std::min(std::max(line_bytes, per_run) * runs, hi - lo + line_bytes);
    if (buffer.bytes > 0)
        bytes = std::min(bytes, std::ceil(buffer.bytes / line_bytes) * line_bytes);
    if (g.data)
        runs *= random.runs;
    const double pages = buffer.large_pages
                             ? 0
                             : std::min({runs * (1 + run / page_bytes), (hi - lo) / page_bytes + 1,
                                         bytes / line_bytes});
    const double occupied = g.data ? bytes : bytes / support::cache::share_of_sets(run, steps);
    return {bytes, occupied, std::min(runs, bytes / line_bytes), pages, lo, hi};
}

Footprint united(const Footprint &a, const Footprint &b) {
    if (a.bytes < b.bytes)
        return united(b, a);
    const double length = std::max(1.0, b.hi - b.lo);
    const double overlap = std::clamp(std::min(a.hi, b.hi) - std::max(a.lo, b.lo), 0.0, length);
    const double more = 1 - overlap / length;
    return {a.bytes + more * b.bytes, std::max(a.occupied, b.occupied),
            a.runs + more * b.runs,   a.pages + more * b.pages,
            std::min(a.lo, b.lo),     std::max(a.hi, b.hi)};
}

}  // namespace Pipe::predict
