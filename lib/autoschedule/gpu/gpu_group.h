#pragma once
// The cost of a group of Funcs as one kernel, with the choice of its block: the model behind the grouping for GPUs.
//
// Each block of threads computes a tile of the group's output, and before it, in shared memory, the part of each member
// that the tile needs. A plain model: time is the largest of
//
//  * global memory: what is read and written once, at the bandwidth of DRAM, and what all blocks read together, halos
//    included, in whole sectors of 32 bytes, at that of L2;
//  * arithmetic and loads of all points, those included that two blocks compute, or that fill up rows of threads;
//  * accesses to shared memory and to lines of the first cache;
//
// longer where too few warps are active to hide latencies (shared memory, registers and threads limit the blocks of a
// multiprocessor), or where the last wave of blocks is not full; and a launch per kernel.

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
