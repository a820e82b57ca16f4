#include "autoschedule/strategies/dp_fusion.h"

#include <algorithm>
#include <limits>
#include <map>

#include "autoschedule/inlining.h"
#include "autoschedule/strategies/fusion_cost.h"
#include "autoschedule/strategies/group_plans.h"
#include "autoschedule/strategies/strategies.h"

namespace Pipe::autoschedule {

namespace {

/// A stage that is fused with no other, where it could be: any fusion is better, as in the authors'
/// program. The cost of groups, to which the weights belong, is much smaller.
constexpr double cost_of_single = std::numeric_limits<int32_t>::max();

/// The group alone, for changes: its members, and of what they read only the sizes.
StageGraph part_of(const StageGraph &graph, const std::vector<int> &members) {
    StageGraph part;
    part.image_bytes = graph.image_bytes;
    part.nodes.resize(graph.nodes.size());
    auto copy_sizes = [&](int n) {
        const Node &from = graph.nodes[static_cast<size_t>(n)];
        Node &to = part.nodes[static_cast<size_t>(n)];
        to.id = from.id;
        to.mins = from.mins;
        to.extents = from.extents;
        to.bytes = from.bytes;
        to.is_output = from.is_output;
    };
    for (int m : members)
        for (int p : graph.nodes[static_cast<size_t>(m)].producers)
            copy_sizes(p);
    for (int m : members)
        part.nodes[static_cast<size_t>(m)] = graph.nodes[static_cast<size_t>(m)];
    return part;
}

class DPFusion {
  public:
    DPFusion(const StageGraph &graph, const Machine &machine, const AutoscheduleOptions &options,
             const FusionParts &parts)
        : machine_(machine), options_(options), parts_(parts) {
        found_.graph = graph;
        inline_copies(found_.graph);
    }

    SearchResult run() {
        const Dag dag = dag_of(found_.graph, nodes_);
        const GroupCost cost = [&](const std::vector<int> &members) { return cost_of(members); };
        const Grouping grouping = parts_.dynamic_programming
                                      ? group_incrementally(dag, cost, limits(dag.size()))
                                      : group_greedily(dag, gain());
        found_.evaluated = grouping.evaluated;
        found_.complete = grouping.complete;
        std::vector<std::vector<int>> groups;
        for (const std::vector<int> &members : grouping.groups) {
            groups.push_back(nodes_of(members, nodes_));
            if (parts_.inlining && groups.back().size() > 1)
                groups.back() = inline_in_group(found_.graph, groups.back());
        }
        add_plans(found_, machine_, groups,
                  [&](const GroupModel &group) { return plan_of(group); });
        return std::move(found_);
    }

  private:
    /// Groups of up to 32 stages, then groups of these, as in section 7.2.
    GroupingLimits limits(int size) const {
        GroupingLimits l;
        l.group_limit = options_.group_limit > 0 ? options_.group_limit : 32;
        const long budget = groups_within(options_, machine_);
        l.groups_per_output = std::clamp<long>(2 * budget / std::max(1, size), 4, 4096);
        l.states = std::clamp<long>(4 * budget, 1000, 100000);
        l.extends_impossible = false;
        return l;
    }

    std::optional<FusionTiles> tiles_of(const GroupModel &group) const {
        if (parts_.tile_model)
            return fusion_tiles(group, machine_, weights_, parts_.two_levels);
        if (!group.has_constant_dependences())
            return std::nullopt;
        const std::vector<int64_t> tile = fixed_tile(group.extents());
        return FusionTiles{fusion_cost(group, machine_, machine_.l2_bytes, weights_, tile), {tile}};
    }

    std::optional<Plan> plan_of(const GroupModel &group) const {
        const std::optional<FusionTiles> tiles = tiles_of(group);
        std::optional<Plan> plan = tiles ? group.plan_of(tiles->tiling) : std::nullopt;
        if (plan && parts_.shared_loops)
            group.share_loops(*plan);
        return plan;
    }

    double cost_of(const std::vector<int> &members) {
        const std::vector<int> ids = nodes_of(members, nodes_);
        const StageGraph &graph = found_.graph;
        if (ids.size() == 1) {
            const Node &node = graph.nodes[static_cast<size_t>(ids[0])];
            const bool could_be_fused = node.role != Role::Fixed && !node.has_updates();
            return could_be_fused ? cost_of_single : 0;
        }
        if (!may_fuse(graph, ids))
            return infinite_cost;
        auto [known, is_new] = costs_.try_emplace(ids, infinite_cost);
        if (!is_new)
            return known->second;
        StageGraph part = part_of(graph, ids);
        const std::vector<int> left = parts_.inlining ? inline_in_group(part, ids) : ids;
        if (const auto tiles = tiles_of(GroupModel(part, machine_, left)))
            known->second = tiles->cost.total(weights_);
        return known->second;
    }

    FusionGain gain() {
        return [this](const std::vector<int> &group,
                      const std::vector<int> &reader) -> std::optional<double> {
            std::vector<int> both = group;
            both.insert(both.end(), reader.begin(), reader.end());
            std::sort(both.begin(), both.end());
            const double gain = cost_of(group) + cost_of(reader) - cost_of(both);
            return gain > 0 ? std::optional(gain) : std::nullopt;
        };
    }

    const Machine &machine_;
    const AutoscheduleOptions &options_;
    const FusionParts parts_;
    const FusionWeights weights_;
    SearchResult found_;
    std::vector<int> nodes_;  // of the DAG -> of the graph
    std::map<std::vector<int>, double> costs_;
};

}  // namespace

SearchResult dp_fusion(const StageGraph &graph, const Machine &machine,
                       const AutoscheduleOptions &options, const FusionParts &parts) {
    return DPFusion(graph, machine, options, parts).run();
}

SearchResult dp_fusion(const StageGraph &graph, const Machine &machine,
                       const AutoscheduleOptions &options) {
    return dp_fusion(graph, machine, options, {});
}

}  // namespace Pipe::autoschedule
