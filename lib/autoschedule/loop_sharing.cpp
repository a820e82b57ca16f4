// Members of a group that share loops.

#include <algorithm>

#include "autoschedule/group_model.h"

namespace Pipe::autoschedule {

using poly::Access;
using poly::Coordinate;

namespace {

/// Whether one iteration of both reads some element in common.
bool overlap(const Access &a, const Access &b) {
    if (!a.same_buffer(b) || a.coords.empty())
        return false;
    for (size_t d = 0; d < a.coords.size(); d++) {
        const Coordinate &p = a.coords[d], &q = b.coords[d];
        const bool same_rate = p.iterator == q.iterator && p.num == q.num && p.den == q.den;
        const poly::Range both = poly::intersect(p.distance, q.distance);
        if (!same_rate || !both.bounded() || both.min > both.max)
            return false;
    }
    return true;
}

}  // namespace

bool GroupModel::read_together(size_t a, size_t b) const {
    const Node &first = graph_.nodes[static_cast<size_t>(nodes_[a])],
               &second = graph_.nodes[static_cast<size_t>(nodes_[b])];
    return std::any_of(first.reads.begin(), first.reads.end(), [&](const Reads &r) {
        return std::any_of(second.reads.begin(), second.reads.end(),
                           [&](const Reads &s) { return overlap(r.hull, s.hull); });
    });
}

/// Per member, reads on the longest path from the output to it. Members of the same depth do not
/// depend on each other, nor do loops that they share in turn.
std::vector<int> GroupModel::depths() const {
    std::vector<int> result(members_.size(), 0);
    for (size_t m = 0; m < members_.size(); m++)  // consumers come first
        for (const Read &read : members_[m].reads)
            if (read.buffer < static_cast<int>(members_.size()))
                result[static_cast<size_t>(read.buffer)] =
                    std::max(result[static_cast<size_t>(read.buffer)], result[m] + 1);
    return result;
}

void GroupModel::share_loops(Plan &plan) const {
    const std::vector<int> depth = depths();
    auto can_share = [&](size_t m, size_t host) {
        const Node &a = graph_.nodes[static_cast<size_t>(nodes_[m])],
                   &b = graph_.nodes[static_cast<size_t>(nodes_[host])];
        return plan.shares[host] < 0 && depth[m] == depth[host] && !a.has_updates() &&
               !b.has_updates() && a.args == b.args && a.widest == b.widest &&
               a.extents == b.extents && a.mins == b.mins &&
               alignment_.region[m] == alignment_.region[host] &&
               plan.levels[m] == plan.levels[host] && plan.slides[m] == plan.slides[host] &&
               read_together(m, host);
    };
    for (size_t m = 2; m < members_.size(); m++)
        for (size_t host = 1; host < m && plan.shares[m] < 0; host++)
            if (can_share(m, host))
                plan.shares[m] = static_cast<int>(host), plan.rows[m] = plan.rows[host];
}

}  // namespace Pipe::autoschedule
