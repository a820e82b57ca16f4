#include "autoschedule/strategies/reuse_levels.h"

#include <algorithm>

#include "autoschedule/inlining.h"
#include "autoschedule/substitute.h"

namespace Pipe::autoschedule::reuse {

using poly::Coordinate;

namespace {

/// Elements of a coordinate that the next iteration reads again.
int64_t shared_elements(const Coordinate &c) {
    return std::max<int64_t>(0, ceil_div(c.distance.size() - std::abs(c.num), c.den));
}

Overlap overlap_along(int dim, const poly::Access &read) {
    Overlap result{dim, 0, true};
    for (const Coordinate &c : read.coords) {
        if (c.iterator != dim || !c.distance.bounded())
            continue;
        result.amount = std::max(result.amount, shared_elements(c));
        result.full = false;
    }
    return result;
}

bool has_overlap(const Node &producer, const Node &consumer) {
    const std::vector<Overlap> all = overlaps(producer, consumer);
    return std::any_of(all.begin(), all.end(),
                       [](const Overlap &o) { return o.full || o.amount > 0; });
}

bool is_reused(const StageGraph &graph, const Node &node) {
    return std::any_of(node.consumers.begin(), node.consumers.end(), [&](int c) {
        return has_overlap(node, graph.nodes[static_cast<size_t>(c)]);
    });
}

}  // namespace

std::vector<Overlap> overlaps(const Node &producer, const Node &consumer) {
    std::vector<Overlap> result;
    for (const Reads &reads : consumer.reads) {
        if (reads.hull.func != producer.id)
            continue;
        for (int d = 0; d < consumer.dims(); d++)
            if (consumer.extents[static_cast<size_t>(d)] > 1)
                result.push_back(overlap_along(d, reads.hull));
    }
    return result;
}

void inline_without_reuse(StageGraph &graph) {
    const size_t count = graph.nodes.size();
    std::vector<bool> inlined(count, false);
    for (size_t n = count; n-- > 0;)
        inlined[n] = may_inline(graph, static_cast<int>(n)) && !is_reused(graph, graph.nodes[n]);
    for (size_t n = count; n-- > 0;) {
        const int node = static_cast<int>(n);
        if (inlined[n] || !may_inline(graph, node) || !is_trivial(graph, node))
            continue;
        // Its producers are needed where it is reused: they are stored instead of it.
        for (int p : graph.nodes[n].producers)
            if (!is_trivial(graph, p))
                inlined[static_cast<size_t>(p)] = false;
        inlined[n] = true;
    }
    for (size_t n = count; n-- > 0;)
        if (inlined[n] && may_inline(graph, static_cast<int>(n)))
            substitute(graph, static_cast<int>(n));
}

int LoopOrder::position(int dim) const {
    return static_cast<int>(std::find(points.begin(), points.end(), dim) - points.begin());
}

namespace {

/// The dimension of the output that dimension d of a member moves with, or -1.
int dim_of_output(const TileView &view, size_t consumer, int d) {
    return view.moves_with(consumer, static_cast<size_t>(d));
}

/// The outermost loop along which values of `producer` are reused by a consumer: -1 if it is none of
/// the output's.
struct Outermost {
    int position = -1;
    bool full = false;
};

Outermost outermost_reuse(const TileView &view, size_t producer, const LoopOrder &order) {
    Outermost found;
    for (int c : view.node(producer).consumers) {
        const size_t consumer = static_cast<size_t>(view.member(c));
        for (const Overlap &o : overlaps(view.node(producer), view.node(consumer))) {
            const int dim = dim_of_output(view, consumer, o.dim);
            if (dim < 0 || (!o.full && o.amount == 0))
                continue;
            const int position = order.position(dim);
            if (position > found.position)
                found = {position, o.full};
            else if (position == found.position)
                found.full |= o.full;
        }
    }
    return found;
}

}  // namespace

std::vector<Levels> stage_levels(const TileView &view, const LoopOrder &order) {
    // Inside of the column, rows of the producers would not be contiguous.
    const int column = order.position(0);
    std::vector<Levels> levels(view.size());
    for (size_t m = 1; m < view.size(); m++) {
        const Outermost reuse = outermost_reuse(view, m, order);
        Levels &own = levels[m];
        if (reuse.position >= 0) {
            own.compute = reuse.position;
            own.store = std::max(reuse.position, column) + 1;
            const int dim = order.points[static_cast<size_t>(reuse.position)];
            if (reuse.full || reuse.position <= column || !view.slides(m, dim))
                own.compute = own.store;
        }
        // A stage cannot be computed inside of loops that its consumers are outside of.
        for (int c : view.node(m).consumers) {
            const int consumer = view.member(c);
            if (consumer > 0)
                own.compute = std::max(own.compute, levels[static_cast<size_t>(consumer)].compute);
        }
        own.store = std::max(own.store, own.compute);
    }
    return levels;
}

std::vector<int64_t> largest_overlaps(const TileView &view) {
    std::vector<int64_t> largest(static_cast<size_t>(view.output().dims()), 0);
    for (size_t m = 1; m < view.size(); m++) {
        for (int c : view.node(m).consumers) {
            const size_t consumer = static_cast<size_t>(view.member(c));
            for (const Overlap &o : overlaps(view.node(m), view.node(consumer))) {
                const int dim = dim_of_output(view, consumer, o.dim);
                if (dim >= 0 && !o.full)
                    largest[static_cast<size_t>(dim)] =
                        std::max(largest[static_cast<size_t>(dim)], o.amount);
            }
        }
    }
    return largest;
}

}  // namespace Pipe::autoschedule::reuse
