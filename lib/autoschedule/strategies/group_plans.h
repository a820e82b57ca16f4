#pragma once
// From the groups of a published scheduler to plans.

#include <functional>
#include <optional>

#include "autoschedule/group_model.h"
#include "autoschedule/search.h"

namespace Pipe::autoschedule {

/// The nodes of the stage graph, for nodes of its DAG (dag_of).
std::vector<int> nodes_of(const std::vector<int> &members, const std::vector<int> &nodes);

/// Whether these nodes may be computed in one loop nest over tiles by the papers' rules: none of them
/// has updates, reads nothing or was scheduled by the user, and the last one alone is read by others.
/// Always true for a single node.
bool may_fuse(const StageGraph &graph, const std::vector<int> &members);

/// The plan that a scheduler chooses for a group.
using PlanOf = std::function<std::optional<Plan>(const GroupModel &)>;

/// Plans for these groups (nodes of `found.graph`, the output last). What the papers do not schedule
/// (updates, Funcs without dimensions) gets the plan of Pipe's search. Groups without a plan are taken
/// apart.
void add_plans(SearchResult &found, const Machine &machine,
               const std::vector<std::vector<int>> &groups, const PlanOf &plan_of);

/// Tiles of 32 x 256 in the two innermost dimensions, whole in the others.
std::vector<int64_t> fixed_tile(const std::vector<int64_t> &extents);

}  // namespace Pipe::autoschedule
