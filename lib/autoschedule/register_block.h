#pragma once
// Register blocks of reductions: the number of sums that are computed at a time.
//
// A sum over RVars waits for its previous addition in each iteration. Independent sums hide this
// latency, and every operand that they share is loaded once for all of them: a block of `vectors`
// vectors along dimension 0 by `rows` points of another dimension, as large as the registers allow
// (Low et al., "Analytical Modeling Is Enough for High-Performance BLIS", TOMS 2016, section 4).
// The order of the loops around the block determines which data is read again from which cache.

#include <optional>
#include <vector>

#include "autoschedule/machine.h"
#include "autoschedule/stage_graph.h"

namespace Pipe::autoschedule {

/// An operand that is copied to where the elements that a block reads lie side by side (in()), and what it reads at a time
/// fits in the caches (block_order.h).
struct PackedOperand {
    size_t load = 0;  ///< which of StageCost::loads reads it
    /// Inside of which it is copied: how many of the loops around the block are inside of that; if all are, it is
    /// copied once, where the stage begins.
    size_t loop = 0;
    std::vector<int> storage_order;  ///< its dimensions, innermost first
    int64_t row = 0;    ///< elements from one row of the copy to the next; 0: as many as it holds
    double clocks = 0;  ///< of all copies
};

struct RegisterBlock {
    int64_t lanes = 1;    ///< of one vector, along dimension 0
    int64_t vectors = 1;  ///< along dimension 0, unrolled
    bool by_phase =
        false;  ///< each of them takes every so manyth point, as loads of x % 3 and x * 2 / 3 need it
    int rvar = -1;      ///< along this RVar instead, each lane with a sum of its own
    /// Of this RVar, two iterations are multiplied and added up by one instruction (ir/narrow_term.h); -1: none.
    int pair = -1;
    int rows_dim = -1;  ///< the other dimension of the block; -1: none
    int64_t rows = 1;   ///< along rows_dim, unrolled
    /// The values of the rows are held in registers, and the vectors loaded one after the other, instead of vice
    /// versa: the loop over the rows is inside of that over the vectors.
    bool holds_rows = false;
    size_t unrolled = 0;  ///< of the RVars, the innermost ones whose loops are unrolled
    int64_t steps =
        1;  ///< iterations of the innermost RVar that are unrolled, where its loop is not
    std::vector<int> loops;  ///< dimensions that have a loop around the block, innermost first
    /// Iterations of the outermost RVar after which the other blocks of a tile are computed up to there; 0: a block
    /// is computed as a whole.
    int64_t part = 0;
    std::vector<int64_t> tile;  ///< if there are parts: per dimension, blocks of a tile
    std::vector<int> tiles;     ///< and the dimensions that have a loop over tiles, innermost first
    std::optional<PackedOperand> packed;
    double core =
        0;  ///< clocks of one block and iteration of the RVars, if all operands were in the L1 cache
    double whole = 1;  ///< of all blocks, the part that is inside of the region
    /// Of one core, per point and iteration of the RVars; more where the cores do not get equal shares.
    double clocks = 0;
    double imbalance = 1;  ///< the factor in `clocks` for unequal shares of the cores
    double apart_clocks =
        0;  ///< per iteration, for pieces of operands from beyond the L1 cache that lie apart
    double near_clocks = 0;  ///< per iteration, for operands that come from beyond the L1 cache
    double far_bytes =
        0;  ///< of the operands that come from beyond the L2 cache, for the whole region

    /// Whether its sums are those of points, which stay in registers (lower/register_sums.h).
    bool is_of_points() const { return rvar < 0; }
    /// The size of the block along a dimension of the Func.
    int64_t size(int dim) const { return dim == 0 ? lanes * vectors : dim == rows_dim ? rows : 1; }
};

/// Limit of the instructions in an unrolled loop nest: they have to be compiled.
constexpr double most_unrolled = 256;

/// The loops over RVars of constant extents that are unrolled around `copies` vectors, and their iterations.
struct UnrolledLoops {
    size_t rvars = 0;  ///< the innermost ones
    double iterations = 1;
};
UnrolledLoops unrolled_loops(const StageCost &stage, int64_t copies);

/// Iterations of the innermost RVar, not of constant extent, that are unrolled around `copies` vectors.
int64_t unrolled_steps(const StageCost &stage, int64_t copies);

/// Of an update whose RVars go over rows, which it takes whole or in long pieces, one after the other, one strip for
/// each core: the length of these. That is a scan along another dimension than 0, or a sum of rows that come from memory.
/// What is loaded again comes from the first caches, and the prefetchers follow rows. 0: in register blocks, which keep the
/// results in registers, and read short pieces of rows: many strips, which more cores can share.
int64_t strip_of_rows(const Node &node, size_t stage, const std::vector<int64_t> &extents,
                      const Machine &machine, int cores);

/// The best block for stage `stage` of the node over a region of these extents. Nothing if the
/// stage has no RVars, or no pure loop over dimension 0, or if its vector loads would not be dense.
/// \param cores that share the outermost loop
std::optional<RegisterBlock> register_block(const Node &node, size_t stage,
                                            const std::vector<int64_t> &extents,
                                            const Machine &machine, int cores);

/// register_block(), else row_sums(); of narrow sums, what is predicted to be faster.
std::optional<RegisterBlock> reduction_block(const Node &node, size_t stage,
                                             const std::vector<int64_t> &extents,
                                             const Machine &machine, int cores);

}  // namespace Pipe::autoschedule
