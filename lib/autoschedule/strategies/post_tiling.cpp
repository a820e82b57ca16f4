// Zhao and Di, "Optimizing the Memory Hierarchy by Compositing Automatic Transformations on
// Computations and Data", MICRO 2020.

#include <algorithm>
#include <optional>

#include "autoschedule/group_model.h"
#include "autoschedule/inlining.h"
#include "autoschedule/strategies/segments.h"
#include "autoschedule/strategies/strategies.h"
#include "autoschedule/substitute.h"

namespace Pipe::autoschedule {

namespace post {

namespace {

/// Tile sizes come from outside of the algorithm: the paper takes 32 in every dimension for linear
/// algebra, and for each image pipeline what an autotuner found, 128 to 512 columns by 8 to 64 rows.
/// These are its sizes for Harris corners, in the middle of them.
constexpr int64_t tile_columns = 256, tile_rows = 32;

/// A producer is not fused if its extension schedule computes its points more often than this on
/// average. The paper has overlapped tiles and states that fusion never introduces redundancy, but
/// no bound on the overlap; its own example computes 64 points instead of 36.
constexpr double most_recomputed = 2;

std::vector<int64_t> tile_sizes(const Node &liveout) {
    std::vector<int64_t> sizes = liveout.extents;
    for (size_t d = 0; d < sizes.size(); d++)
        sizes[d] = std::min(sizes[d], d == 0 ? tile_columns : tile_rows);
    return sizes;
}

/// Parallel loops of a computation space: those of its pure definition and of all updates.
int parallel_loops(const Node &space) {
    int count = 0;
    for (size_t d = 0; d < space.extents.size(); d++) {
        count += std::all_of(space.stages.begin(), space.stages.end(),
                             [&](const StageCost &s) { return bool(s.loops_over[d]); });
    }
    return count;
}

/// Trivial pointwise Funcs are inlined before fusion, as the paper says of Harris corners; the
/// quantization of its running example is not.
StageGraph without_trivial(StageGraph graph) {
    for (size_t n = graph.nodes.size(); n-- > 0;) {
        const int node = static_cast<int>(n);
        if (is_inlining_choice(graph, node) && is_trivial(graph, node))
            substitute(graph, node);
    }
    inline_free_of_cost(graph);
    return graph;
}

/// Whether tiles next to each other need exactly the same points of the space, as the columns of tiles
/// of a product need its rows: then the space would be computed once per tile.
bool repeats(const TileView &view, size_t space, const std::vector<int64_t> &sizes) {
    for (size_t d = 0; d < sizes.size(); d++)
        if (sizes[d] < view.output().extents[d] && !view.moves(space, static_cast<int>(d)))
            return true;
    return false;
}

/// Algorithm 1: the first space, consumers first, that may not be tiled by the data which tiles of
/// the live-out need (its upwards exposed data); then it is not fused. -1: all may.
int untiled_space(const TileView &view) {
    const std::vector<int64_t> sizes = tile_sizes(view.output());
    // A CPU has one level of parallel loops: m = 1.
    const int m = std::min(1, parallel_loops(view.output()));
    for (size_t s = 1; s < view.size(); s++) {
        const bool loses_parallelism = m > parallel_loops(view.node(s));
        if (m == 0 || loses_parallelism || s >= most_fused || repeats(view, s, sizes) ||
            view.recomputation(s, sizes) > most_recomputed)
            return view.members()[s];
    }
    return -1;
}

/// Algorithms 1 and 3: the live-outs with the spaces that are fused with them. A space that several
/// live-outs need is a live-out of its own: a Func is computed at one place, so that it cannot be
/// fused with two even if they need different parts. Spaces that remain untiled are the live-outs of
/// further groups, and their producers are fused with them in turn.
std::vector<Segment> fuse_after_tiling(const StageGraph &graph) {
    std::vector<bool> liveouts(graph.nodes.size(), false);
    for (;;) {
        std::vector<Segment> segments = segments_of(graph, liveouts);
        bool changed = false;
        for (const Segment &segment : segments) {
            const int untiled = untiled_space(TileView(graph, segment));
            if (untiled < 0)
                continue;
            liveouts[static_cast<size_t>(untiled)] = true;
            changed = true;
        }
        if (!changed)
            return segments;
    }
}

/// Algorithm 2: the tiled loops of the live-out, the tile loops outside; inside of these, all fused
/// spaces, each with the points that the tile needs.
Plan plan_tiles(const StageGraph &graph, const Machine &machine, const Segment &segment) {
    const Node &liveout = graph.nodes[static_cast<size_t>(segment[0])];
    Plan plan = GroupModel(graph, machine, segment).plan_of({tile_sizes(liveout)}).value();
    plan.outer.clear();
    for (int d = liveout.dims(); d-- > 0;)
        if (plan.tile[static_cast<size_t>(d)] < liveout.extents[static_cast<size_t>(d)])
            plan.outer.push_back(d);
    plan.parallel = machine.cores > 1 && !plan.outer.empty();
    plan.streams = plan.prefetches = false;
    return plan;
}

}  // namespace

}  // namespace post

SearchResult post_tiling(const StageGraph &graph, const Machine &machine,
                         const AutoscheduleOptions &) {
    SearchResult found;
    found.graph = post::without_trivial(graph);
    for (const Segment &segment : post::fuse_after_tiling(found.graph)) {
        const Node &liveout = found.graph.nodes[static_cast<size_t>(segment[0])];
        if (liveout.role == Role::Fixed)
            continue;
        found.plans.push_back(has_tiles(liveout) ? post::plan_tiles(found.graph, machine, segment)
                                                 : plan_alone(found.graph, machine, segment));
        found.cost += found.plans.back().cost.total;
        found.evaluated++;
    }
    return found;
}

}  // namespace Pipe::autoschedule
