#include "autoschedule/strategies/segments.h"

#include <algorithm>
#include <functional>

#include "autoschedule/group_model.h"
#include "support/error.h"

namespace Pipe::autoschedule {

using poly::Coordinate;
using poly::Range;

bool is_fusible(const Node &node) {
    const bool jumps = std::any_of(node.stages.begin(), node.stages.end(),
                                   [](const StageCost &s) { return !s.loops_over_all(); });
    return node.role == Role::Free && !node.is_output && !node.consumers.empty() && !jumps;
}

std::vector<Segment> segments_of(const StageGraph &graph, const std::vector<bool> &roots) {
    const auto hosts = [](const Node &node) { return node.role != Role::Fixed && has_tiles(node); };
    std::vector<Segment> of(graph.nodes.size());  // per output
    std::vector<size_t> home(graph.nodes.size());
    for (size_t n = graph.nodes.size(); n-- > 0;) {
        const Node &node = graph.nodes[n];
        if (node.inlined)
            continue;
        home[n] = n;
        if (!roots[n] && is_fusible(node)) {
            const size_t first = home[static_cast<size_t>(node.consumers[0])];
            const bool same = std::all_of(node.consumers.begin(), node.consumers.end(), [&](int c) {
                return home[static_cast<size_t>(c)] == first;
            });
            if (same && hosts(graph.nodes[first]))
                home[n] = first;
        }
        of[home[n]].push_back(static_cast<int>(n));
    }
    std::erase_if(of, [](const Segment &s) { return s.empty(); });
    return of;
}

Plan plan_alone(const StageGraph &graph, const Machine &machine, const Segment &segment) {
    if (segment.size() != 1)
        throw InternalError("a segment without tiles has several members");
    return plan_group(graph, machine, segment, false).value();
}

TileView::TileView(const StageGraph &graph, Segment members)
    : graph_(graph), members_(std::move(members)) {
    std::vector<int> dims;
    std::vector<poly::GroupEdge> edges;
    for (size_t m = 0; m < members_.size(); m++) {
        dims.push_back(node(m).dims());
        for (const Reads &reads : node(m).reads) {
            const int producer = member(static_cast<int>(reads.hull.func));
            if (producer > 0)
                edges.push_back({producer, static_cast<int>(m), &reads.hull});
        }
    }
    alignment_ = poly::align(dims, edges);
    for (size_t d = 0; d < output().extents.size(); d++)
        alignment_.region[0][d].range = output().range(d);
    for (size_t m = 0; m < members_.size(); m++) {
        reads_.emplace_back();
        for (const Reads &reads : node(m).reads)
            reads_[m].push_back(poly::compose(reads.hull, region(m)).coords);
    }
}

int TileView::member(int node) const {
    auto at = std::lower_bound(members_.begin(), members_.end(), node, std::greater<int>());
    return at != members_.end() && *at == node ? static_cast<int>(at - members_.begin()) : -1;
}

int TileView::moves_with(size_t m, size_t d) const {
    const Coordinate &c = region(m)[d];
    const bool moves = c.iterator >= 0 && c.distance.bounded() &&
                       output().extents[static_cast<size_t>(c.iterator)] > 1;
    return moves ? c.iterator : -1;
}

bool TileView::moves(size_t m, int dim) const {
    for (size_t d = 0; d < region(m).size(); d++)
        if (moves_with(m, d) == dim)
            return true;
    return false;
}

bool TileView::moves(size_t m) const {
    for (int dim = 0; dim < output().dims(); dim++)
        if (moves(m, dim))
            return true;
    return false;
}

bool TileView::slides(size_t m, int dim) const {
    const auto depends = [&](const Coordinate &c) {
        return c.iterator == dim || (c.may_use >> dim & 1) || !c.distance.bounded();
    };
    return moves(m, dim) && std::count_if(region(m).begin(), region(m).end(), depends) == 1;
}

namespace {

/// The k-th tile along a dimension of the output.
Range kth_tile(const Node &output, size_t dim, int64_t size, int64_t k) {
    const Range all = output.range(dim);
    const int64_t first = all.min + k * size;
    return {first, std::min(all.max, first + size - 1)};
}

int64_t touched_elements(const Coordinate &c, const Range &tile) {
    return std::max<int64_t>(1, poly::touched(c, tile).size());
}

}  // namespace

int64_t TileView::extent(const Coordinate &c, const std::vector<int64_t> &sizes) const {
    if (c.iterator < 0)
        return touched_elements(c, Range::point(0));
    const size_t g = static_cast<size_t>(c.iterator);
    const int64_t count = ceil_div(output().extents[g], sizes[g]);
    return touched_elements(c, kth_tile(output(), g, sizes[g], (count - 1) / 2));
}

std::vector<int64_t> TileView::extents(const std::vector<Coordinate> &region,
                                       const std::vector<int64_t> &sizes) const {
    std::vector<int64_t> result;
    for (const Coordinate &c : region)
        result.push_back(extent(c, sizes));
    return result;
}

double TileView::elements(const std::vector<Coordinate> &region, const std::vector<int64_t> &sizes,
                          size_t first) const {
    double n = 1;
    for (size_t d = first; d < region.size(); d++)
        n *= static_cast<double>(extent(region[d], sizes));
    return n;
}

double TileView::recomputation(size_t m, const std::vector<int64_t> &sizes) const {
    double factor = 1;
    for (int g = 0; g < output().dims(); g++) {
        if (!moves(m, g))
            factor *= static_cast<double>(
                ceil_div(output().extents[static_cast<size_t>(g)], sizes[static_cast<size_t>(g)]));
    }
    for (const Coordinate &c : region(m)) {
        if (c.iterator < 0)
            continue;
        const size_t g = static_cast<size_t>(c.iterator);
        double sum = 0;
        for (int64_t k = 0; k * sizes[g] < output().extents[g]; k++)
            sum += static_cast<double>(touched_elements(c, kth_tile(output(), g, sizes[g], k)));
        factor *= sum / static_cast<double>(touched_elements(c, output().range(g)));
    }
    return factor;
}

}  // namespace Pipe::autoschedule
