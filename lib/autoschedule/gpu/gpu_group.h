#pragma once
// The choice of a kernel's block, and of where each member of a group is computed, by the model of kernel_model.h.

#include <optional>
#include <vector>

#include "autoschedule/machine.h"
#include "autoschedule/plan.h"
#include "autoschedule/stage_graph.h"

namespace Pipe::autoschedule {

/// Cost and best block of a group; nothing if it cannot be one kernel. \param members any order
std::optional<Plan> plan_kernel(const StageGraph &graph, const Machine &machine,
                                std::vector<int> members);

}  // namespace Pipe::autoschedule
