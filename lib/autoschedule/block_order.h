#pragma once
// The loops around a register block: what they read again from beyond the L2 cache depends on their order.
//
// Long sums read more than a cache holds. Then the outermost RVar runs in parts, and a part is computed for all blocks
// of a tile before the next one: what a part of the tile reads stays in the cache, as do the sums of the tile, which
// are stored after each part (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", TOMS 2008;
// Low et al. 2016, section 4.2).
//
//     for tiles of the dimensions: for parts of the RVars: for blocks of the tile: for the RVars in the part: block

#include <vector>

#include "autoschedule/register_block.h"

namespace Pipe::autoschedule {

struct BlockedStage {
    const Node &node;
    const StageCost &stage;
    const std::vector<int64_t> &extents;
    std::vector<const poly::Access *> operands;  ///< its loads, without the sums themselves
    const Machine &machine;
    int cores = 1;
};

/// Whether the element depends on this dimension of the reader.
bool depends_on(const poly::Access &load, int dim);

/// Time of the busiest core against all cores sharing the work evenly, where so many tasks are shared.
double imbalance(int64_t tasks, int cores);

/// Sets the loops, parts and tiles, and adds to the clocks what they cost: of those whose outermost loop occupies all
/// cores, the ones with the least traffic.
void order_loops(RegisterBlock &block, const BlockedStage &stage);

}  // namespace Pipe::autoschedule
