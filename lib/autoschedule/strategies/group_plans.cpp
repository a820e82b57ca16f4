#include "autoschedule/strategies/group_plans.h"

#include <algorithm>

namespace Pipe::autoschedule {

std::vector<int> nodes_of(const std::vector<int> &members, const std::vector<int> &nodes) {
    std::vector<int> result;
    for (int m : members)
        result.push_back(nodes[static_cast<size_t>(m)]);
    return result;
}

bool may_fuse(const StageGraph &graph, const std::vector<int> &members) {
    if (members.size() == 1)
        return true;
    const bool has_others = std::any_of(members.begin(), members.end(), [&](int n) {
        const Node &node = graph.nodes[static_cast<size_t>(n)];
        return node.has_updates() || node.dims() == 0 || node.stages[0].loads.empty();
    });
    return !has_others && is_group(graph, members);
}

void add_plans(SearchResult &found, const Machine &machine,
               const std::vector<std::vector<int>> &groups, const PlanOf &plan_of) {
    for (const std::vector<int> &members : groups) {
        const Node &output = found.graph.nodes[static_cast<size_t>(members.back())];
        if (output.role == Role::Fixed)
            continue;
        std::optional<Plan> plan;
        if (!output.has_updates() && output.dims() > 0)
            plan = plan_of(GroupModel(found.graph, machine, members));
        if (!plan && members.size() > 1) {
            for (int m : members)
                add_plans(found, machine, {{m}}, plan_of);
            continue;
        }
        if (!plan)
            plan = plan_group(found.graph, machine, members, false);
        found.cost += plan->cost.total;
        found.plans.push_back(std::move(*plan));
    }
}

std::vector<int64_t> fixed_tile(const std::vector<int64_t> &extents) {
    std::vector<int64_t> tile = extents;
    for (size_t d = 0; d < std::min<size_t>(2, tile.size()); d++)
        tile[d] = std::min<int64_t>(tile[d], d == 0 ? 256 : 32);
    return tile;
}

}  // namespace Pipe::autoschedule
