#pragma once
// The loops around a register block: what they read again from beyond the L2 cache depends on their order.
//
// Long sums read more than a cache holds. Then the outermost RVar runs in parts, and a part is computed for all blocks
// of a tile before the next one: what a part of the tile reads stays in the cache, as do the sums of the tile, which
// are stored after each part (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", TOMS 2008;
// Low et al. 2016, section 4.2).
//
// An operand whose elements lie apart, as those of some columns of a matrix do, is packed: a tile and part of it is copied
// to where it lies together. Else its lines crowd into few sets of the caches, and each is on a page of its own. A copy that
// many blocks read may be larger than the L2 cache, up to all that the stage reads.
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
    std::vector<const poly::Access *> packable;  ///< of these, those that could be copied
    const Machine &machine;
    int cores = 1;
};

/// Whether the element depends on this dimension of the reader.
bool depends_on(const poly::Access &load, int dim);

/// Iterations of the outermost RVar between loading and storing the sums: many with the RVars inside of it, but no
/// more than one where these alone are many.
struct Parts {
    int64_t least = 1, most = 1;
};
Parts parts_of(const StageCost &stage);

/// Clocks per point and iteration of a block that takes so many of them in each iteration for reading from beyond the L1
/// cache.
double block_clocks(const RegisterBlock &block, double near_clocks);

/// Sets the loops, parts, tiles and packing, and adds to the clocks what they cost: of those whose outermost loop occupies all
/// cores, the ones with the least traffic. Returns the clocks of all blocks with this traffic.
double order_loops(RegisterBlock &block, const BlockedStage &stage);

}  // namespace Pipe::autoschedule
