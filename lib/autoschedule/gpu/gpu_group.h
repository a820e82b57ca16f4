#pragma once
// The cost of a group of Funcs as one kernel, with the choice of its block: the model behind the grouping for GPUs.
//
// Each block of threads computes a tile of the group's output. Each member is computed either by the block before it, in shared
// memory, the part that the tile needs; or by each thread for itself, in registers, the part that its points need. Points
// of one thread share what they load. The time of that work: gpu_cost.h.

#include <optional>
#include <vector>

#include "autoschedule/machine.h"
#include "autoschedule/plan.h"
#include "autoschedule/stage_graph.h"
#include "poly/alignment.h"

namespace Pipe::autoschedule {

/// Cost and best block of a group; nothing if it cannot be one kernel. \param members any order
std::optional<Plan> plan_kernel(const StageGraph &graph, const Machine &machine,
                                std::vector<int> members);

}  // namespace Pipe::autoschedule
