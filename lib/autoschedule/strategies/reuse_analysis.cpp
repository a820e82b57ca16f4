// Sioutas, Stuijk, Waeijen, Basten, Corporaal and Somers, "Schedule Synthesis for Halide Pipelines
// through Reuse Analysis", TACO 2019.

#include <algorithm>
#include <map>
#include <numeric>

#include "autoschedule/strategies/reuse_tiling.h"
#include "autoschedule/strategies/strategies.h"

namespace Pipe::autoschedule {

namespace reuse {

namespace {

/// The fewest stages of the first segment of a split (max_split of the paper, which prints no value):
/// with 1, every segmentation is considered.
constexpr size_t max_split = 1;
/// Candidates of Algorithm 3 per millisecond of the user's budget. When these are used up, each split
/// doubles the size of its segment as long as that fits.
constexpr double candidates_per_ms = 20;

struct Configuration {
    std::vector<Segment> segments;
    double cost = 0;
};

/// Algorithms 4 and 5: the segments of a pipeline whose buffers do not fit into the last-level cache.
class Splitter {
  public:
    Splitter(const StageGraph &graph, const Machine &machine, double budget_ms)
        : graph_(graph), machine_(machine),
          most_candidates_(static_cast<long>(std::max(1.0, budget_ms) * candidates_per_ms)) {}

    const std::optional<Tiled> &tiling(const Segment &segment) {
        auto [at, is_new] = tilings_.try_emplace(segment);
        if (is_new && graph_.nodes[static_cast<size_t>(segment[0])].role != Role::Fixed)
            at->second = analyze_tiling(TileView(graph_, segment), machine_);
        if (is_new && at->second)
            candidates_ += at->second->evaluated;
        return at->second;
    }

    bool fits(const Segment &segment) {
        if (segment.size() == 1)
            return true;
        if (segment.size() > most_fused)
            return false;
        const std::optional<Tiled> &t = tiling(segment);
        return t && t->cost.working_set() <= static_cast<double>(machine_.l3_bytes);
    }

    /// Algorithm 5. `pipeline` is a tree of stages that its last one, first in the list, needs.
    const Configuration &split(const Segment &pipeline) {
        auto known = splits_.find(pipeline);
        if (known != splits_.end())
            return known->second;
        Configuration best{{pipeline}, fits(pipeline) ? cost_of(pipeline) : infinite_cost};
        if (!fits(pipeline))
            best = best_split(pipeline);
        return splits_.emplace(pipeline, std::move(best)).first->second;
    }

    /// Segments whose tilings were evaluated.
    long evaluated() const { return static_cast<long>(tilings_.size()); }
    bool complete() const { return candidates_ < most_candidates_; }

  private:
    double cost_of(const Segment &segment) {
        const Node &output = graph_.nodes[static_cast<size_t>(segment[0])];
        const bool tiled = has_tiles(output) && output.role != Role::Fixed;
        return tiled && tiling(segment) ? tiling(segment)->cost.total() : 0;
    }

    Configuration best_split(const Segment &pipeline) {
        std::vector<Segment> firsts;
        for (size_t n = max_split; n < pipeline.size(); n += complete() ? 1 : n) {
            Segment first = ending_at(pipeline, pipeline.size() - n);
            if (first.size() > 1 && !has_tiles(graph_.nodes[static_cast<size_t>(first[0])]))
                continue;
            if (!fits(first))
                break;
            firsts.push_back(std::move(first));
        }
        if (!complete()) {
            firsts = {
                *std::max_element(firsts.begin(), firsts.end(), [](const auto &a, const auto &b) {
                    return a.size() < b.size();
                })};
        }
        Configuration best{{}, infinite_cost};
        for (const Segment &first : firsts) {
            Segment rest;
            std::set_difference(pipeline.begin(), pipeline.end(), first.begin(), first.end(),
                                std::back_inserter(rest), std::greater<>());
            Configuration other = split(rest);
            other.cost += cost_of(first);
            other.segments.push_back(first);
            if (other.cost < best.cost)
                best = std::move(other);
        }
        return best;
    }

    /// The stage at this place of the list, and all that it needs.
    Segment ending_at(const Segment &pipeline, size_t output) const {
        Segment result = {pipeline[output]};
        for (size_t i = output + 1; i < pipeline.size(); i++) {
            const Node &node = graph_.nodes[static_cast<size_t>(pipeline[i])];
            const bool needed = std::any_of(result.begin(), result.end(), [&](int member) {
                return std::binary_search(node.consumers.begin(), node.consumers.end(), member);
            });
            if (needed)
                result.push_back(pipeline[i]);
        }
        return result;
    }

    const StageGraph &graph_;
    const Machine &machine_;
    long most_candidates_, candidates_ = 0;
    std::map<Segment, std::optional<Tiled>> tilings_;
    std::map<Segment, Configuration> splits_;
};

/// Segments as large as possible; what a tile of the output needs as a whole, however small the tile,
/// is computed before.
std::vector<Segment> whole_pipelines(const StageGraph &graph, std::vector<bool> &roots) {
    for (;;) {
        std::vector<Segment> segments = segments_of(graph, roots);
        bool changed = false;
        for (const Segment &segment : segments) {
            const TileView view(graph, segment);
            for (size_t m = 1; m < view.size() && !changed; m++) {
                if (view.moves(m))
                    continue;
                roots[static_cast<size_t>(segment[m])] = true;
                changed = true;
            }
        }
        if (!changed)
            return segments;
    }
}

/// Algorithm 4: stages with several consumers become pipelines of their own.
std::vector<Segment> group_stages(const StageGraph &graph, const Segment &pipeline,
                                  std::vector<bool> roots) {
    for (size_t m = 1; m < pipeline.size(); m++)
        if (graph.nodes[static_cast<size_t>(pipeline[m])].consumers.size() > 1)
            roots[static_cast<size_t>(pipeline[m])] = true;
    std::vector<Segment> groups = whole_pipelines(graph, roots);
    std::erase_if(groups, [&](const Segment &group) {
        return !std::binary_search(pipeline.begin(), pipeline.end(), group[0], std::greater<>());
    });
    return groups;
}

/// The loop of the output at this position of the loop order.
OutputLoop loop_at(const LoopOrder &order, int position, const std::vector<int> &outer) {
    if (position < order.size())
        return {order.points[static_cast<size_t>(position)], false};
    return outer.empty() ? OutputLoop() : OutputLoop{outer.back(), true};
}

/// The loop order of a producer: as it is stored, with the dimension of the compute level outermost
/// (section 4.4).
std::vector<int> loops_of_member(const TileView &view, size_t m, const OutputLoop &compute) {
    std::vector<int> order(static_cast<size_t>(view.node(m).dims()));
    std::iota(order.begin(), order.end(), 0);
    if (!compute.over_tiles) {
        std::stable_partition(order.begin(), order.end(), [&](int d) {
            return view.moves_with(m, static_cast<size_t>(d)) != compute.dim;
        });
    }
    return order;
}

Plan plan_of(const TileView &view, const Tiled &tiled, const Machine &machine) {
    const Schedule &schedule = tiled.schedule;
    Plan plan;
    plan.members = view.members();
    plan.levels.assign(view.size(), Level::Tile);
    plan.rows.resize(view.size());
    plan.places.resize(view.size());
    plan.tile = schedule.tile;
    plan.inner = schedule.order.points;
    for (size_t i = schedule.order.tiles.size(); i-- > 0;) {
        const size_t d = static_cast<size_t>(schedule.order.tiles[i]);
        if (plan.tile[d] < view.output().extents[d])
            plan.outer.push_back(static_cast<int>(d));
    }
    plan.parallel = machine.cores > 1 && !plan.outer.empty();
    for (size_t m = 0; m < view.size(); m++) {
        const Levels levels = m == 0 ? Levels{schedule.order.size(), 0} : schedule.levels[m];
        plan.places[m].compute = loop_at(schedule.order, levels.compute, plan.outer);
        plan.places[m].store = loop_at(schedule.order, levels.store, plan.outer);
        plan.places[m].order = loops_of_member(view, m, plan.places[m].compute);
        plan.slides.push_back(m > 0 && levels.compute != levels.store);
        plan.extents.push_back(extents_at(view, m, schedule, levels.compute, machine));
    }
    plan.cost.total = tiled.cost.total();
    plan.cost.scratch_bytes = tiled.cost.working_set();
    plan.cost.published = true;
    plan.prefetches = false;
    return plan;
}

}  // namespace

}  // namespace reuse

SearchResult reuse_analysis(const StageGraph &graph, const Machine &machine,
                            const AutoscheduleOptions &options) {
    SearchResult found;
    found.graph = graph;
    reuse::inline_without_reuse(found.graph);
    reuse::Splitter splitter(found.graph, machine, options.time_budget_ms);
    std::vector<bool> roots(found.graph.nodes.size(), false);
    std::vector<Segment> segments;
    for (const Segment &pipeline : reuse::whole_pipelines(found.graph, roots)) {
        if (splitter.fits(pipeline)) {
            segments.push_back(pipeline);
            continue;
        }
        for (const Segment &group : reuse::group_stages(found.graph, pipeline, roots)) {
            const reuse::Configuration &best = splitter.split(group);
            segments.insert(segments.end(), best.segments.begin(), best.segments.end());
        }
    }
    std::sort(segments.begin(), segments.end());  // by their outputs: producers first
    for (const Segment &segment : segments) {
        const Node &output = found.graph.nodes[static_cast<size_t>(segment[0])];
        if (output.role == Role::Fixed)
            continue;
        found.plans.push_back(has_tiles(output)
                                  ? reuse::plan_of(TileView(found.graph, segment),
                                                   splitter.tiling(segment).value(), machine)
                                  : plan_alone(found.graph, machine, segment));
        found.cost += found.plans.back().cost.total;
    }
    found.evaluated = splitter.evaluated();
    found.complete = splitter.complete();
    return found;
}

}  // namespace Pipe::autoschedule
