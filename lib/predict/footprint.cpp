#include "predict/footprint.h"

#include <algorithm>
#include <cmath>
#include <numeric>

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
        g.dims.push_back({Group::every_time, lanes, double(a.lanes)});
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
    return a.buffer == b.buffer && a.stage == b.stage && a.store == b.store && a.data == b.data &&
           std::equal(a.dims.begin(), a.dims.end(), b.dims.begin(), b.dims.end(),
                      [](const Group::Dim &x, const Group::Dim &y) {
                          return x.loop == y.loop && x.step == y.step;
                      });
}

/// The largest share of the sets of a cache that lines at these places can be in. Only the position in a page
/// is the same in virtual and physical addresses.
double share_of_sets(double run, const std::vector<std::pair<double, double>> &levels) {
    constexpr double sets = page_bytes / line_bytes;
    double reached = std::max(1.0, run / line_bytes);
    for (const auto &[step, count] : levels) {
        const double at = std::fmod(step, page_bytes);
        double places = std::fmod(step, line_bytes) != 0 ? sets : 1;
        if (at != 0 && places == 1)
            places = page_bytes / std::gcd(static_cast<int64_t>(at), static_cast<int64_t>(page_bytes));
        reached *= std::min(count, places);
    }
    return std::min(1.0, reached / sets);
}

/// Adds the other group, if it is a few steps away.
bool merge(Group &g, const Group &other) {
    if (!same_shape(g, other))
        return false;
    if (g.data) {
        g.chance = std::max(g.chance, other.chance);
        g.lanes += other.lanes;
        return true;
    }
    double away = other.first - g.first;
    std::vector<double> steps(g.dims.size(), 0);
    constexpr double most_steps = 64;
    for (size_t d = g.dims.size(); d-- > 0;) {
        const double step = g.dims[d].step;
        if (step < line_bytes / 2 || std::abs(away) < step / 2)
            continue;
        const double k = std::round(away / step);
        if (std::abs(k) > std::max(most_steps, g.dims[d].distinct))
            return false;
        steps[d] = k;
        away -= k * step;
    }
    if (std::abs(away) > page_bytes)
        return false;
    for (size_t d = 0; d < g.dims.size(); d++) {
        g.dims[d].lo = std::min(g.dims[d].lo, steps[d]);
        g.dims[d].hi = std::max(g.dims[d].hi, steps[d]);
    }
    g.lo = std::min(g.lo, away + other.lo), g.hi = std::max(g.hi, away + other.hi);
    g.chance = std::max(g.chance, other.chance);
    return true;
}

Footprint of_data(const Group &g, int from, const std::vector<double> &trips) {
    double places = g.lanes;
    for (size_t d = static_cast<size_t>(std::max(0, from)); d < trips.size(); d++)
        if (g.loops & loop_bit(static_cast<int>(d)))
            places *= trips[d];
    const double range = g.range > 0 ? std::ceil(g.range / line_bytes) * line_bytes : places * line_bytes;
    // Of n lines, k accesses at random touch n (1 - e^(-k / n)).
    const double lines = range / line_bytes, touched = lines * (1 - std::exp(-places / lines));
    return {touched * line_bytes,     touched * line_bytes, touched, touched,
            g.first - range / 2, g.first + range / 2};
}

}  // namespace

std::vector<Group> groups_of(const std::vector<Access> &accesses, const std::vector<BufferInfo> &buffers) {
    std::vector<Group> groups;
    for (const Access &a : accesses) {
        const Group g = group_of(a, buffers);
        if (std::none_of(groups.begin(), groups.end(), [&](Group &other) { return merge(other, g); }))
            groups.push_back(g);
    }
    return groups;
}

Footprint footprint(const Group &g, int from, const std::vector<double> &trips, const BufferInfo &buffer) {
    double run = g.hi - g.lo, lo = g.first + g.lo, hi = g.first + g.hi;
    Footprint random;
    if (g.data) {
        random = of_data(g, from, trips);
        run = std::max(line_bytes, random.bytes);
        lo = random.lo, hi = random.hi;
    }
    std::vector<std::pair<double, double>> levels;  // step and count
    for (const Group::Dim &d : g.dims) {
        const double inside = d.loop >= from ? d.distinct : 1;
        const double count = inside + d.hi - d.lo;
        lo += d.step * (d.lo - (inside - 1) / 2), hi += d.step * (d.hi + (inside - 1) / 2);
        if (count <= 1)
            continue;
        if (levels.empty() && d.step < run + line_bytes) {
            run += d.step * (count - 1);
            continue;
        }
        // Steps of a multiple of others, and not beyond their end: more of the same.
        auto same = std::find_if(levels.rbegin(), levels.rend(), [&](const auto &l) {
            const double k = std::round(d.step / l.first);
            return std::abs(d.step - k * l.first) < 0.01 * l.first && k <= l.second;
        });
        if (same != levels.rend())
            same->second += std::round(d.step / same->first) * (count - 1);
        else
            levels.emplace_back(d.step, count);
    }
    double runs = 1;
    for (const auto &[step, count] : levels)
        runs *= count;
    const double per_run = g.data ? run : run + line_bytes - g.element;  // begins anywhere in a line
    double bytes = std::min(std::max(line_bytes, per_run) * runs, hi - lo + line_bytes);
    if (buffer.bytes > 0)
        bytes = std::min(bytes, std::ceil(buffer.bytes / line_bytes) * line_bytes);
    if (g.data)
        runs *= random.runs;
    const double pages = buffer.large_pages ? 0 : std::min({runs * (1 + run / page_bytes), (hi - lo) / page_bytes + 1, bytes / line_bytes});
    const double occupied = g.data ? bytes : bytes / share_of_sets(run, levels);
    return {bytes, occupied, std::min(runs, bytes / line_bytes), pages, lo, hi};
}

Footprint united(const Footprint &a, const Footprint &b) {
    if (a.bytes < b.bytes)
        return united(b, a);
    const double length = std::max(1.0, b.hi - b.lo);
    const double overlap = std::clamp(std::min(a.hi, b.hi) - std::max(a.lo, b.lo), 0.0, length);
    const double more = 1 - overlap / length;
    return {a.bytes + more * b.bytes,
            std::max(a.occupied, b.occupied),
            a.runs + more * b.runs,
            a.pages + more * b.pages,
            std::min(a.lo, b.lo),
            std::max(a.hi, b.hi)};
}

}  // namespace Pipe::predict
