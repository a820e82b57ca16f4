// PolyMage's grouping, as Jangda and Bondhugula 2020 describe it in section 2.2: all groups have the same
// tile sizes, nothing is inlined, there is one level of tiles. The largest group that a single other group
// reads is fused with that, if the dependences between them are constant and the overlap of tiles is
// tolerated; and so on. PolyMage finds tile sizes and tolerance by running all combinations; here they are
// constants: the tile sizes of most of its tuned programs, and the middle one of its tolerances.

#include <algorithm>

#include "autoschedule/inlining.h"
#include "autoschedule/strategies/group_plans.h"
#include "autoschedule/strategies/strategies.h"

namespace Pipe::autoschedule {

namespace {

constexpr double overlap_tolerance = 0.4;

double points_of(const StageGraph &graph, const std::vector<int> &members) {
    double points = 0;
    for (int m : members)
        points += graph.nodes[static_cast<size_t>(m)].points();
    return points;
}

bool is_fusable(const StageGraph &graph, const Machine &machine, const std::vector<int> &members) {
    if (members.size() > most_fused || !may_fuse(graph, members))
        return false;
    const GroupModel group(graph, machine, members);
    if (!group.has_constant_dependences())
        return false;
    const Volumes v = group.volumes(fixed_tile(group.extents()));
    return v.overlap < overlap_tolerance * (v.tile - v.overlap);
}

}  // namespace

SearchResult greedy(const StageGraph &graph, const Machine &machine, const AutoscheduleOptions &) {
    SearchResult found;
    found.graph = graph;
    inline_copies(found.graph);
    std::vector<int> nodes;
    const Dag dag = dag_of(found.graph, nodes);
    auto size_if_fusable = [&](const std::vector<int> &group,
                               const std::vector<int> &reader) -> std::optional<double> {
        std::vector<int> both = group;
        both.insert(both.end(), reader.begin(), reader.end());
        std::sort(both.begin(), both.end());
        if (!is_fusable(found.graph, machine, nodes_of(both, nodes)))
            return std::nullopt;
        return points_of(found.graph, nodes_of(group, nodes));
    };
    const Grouping grouping = group_greedily(dag, size_if_fusable);
    found.evaluated = grouping.evaluated;
    std::vector<std::vector<int>> groups;
    for (const std::vector<int> &members : grouping.groups)
        groups.push_back(nodes_of(members, nodes));
    add_plans(found, machine, groups,
              [](const GroupModel &group) { return group.plan_of({fixed_tile(group.extents())}); });
    return found;
}

}  // namespace Pipe::autoschedule
