#pragma once
// Long reductions to few points: their iterations are divided among threads and blocks, too, whose parts are then combined
// (lower/private_accumulators.h). One RVar lies along the threads of a warp, or the first dimension of the points does, whichever
// lets them load elements next to each other; another one along the blocks.

#include <cstdint>

#include "autoschedule/stage_graph.h"

namespace Pipe::autoschedule {

struct ReductionThreads {
    /// Threads along the first dimension of the points. 1: there are none.
    int64_t point_threads = 1;
    bool lanes_along_points =
        false;                 ///< a warp lies along these threads; else along those of the RVar
    int thread_rvar = -1;      ///< whose iterations are divided among threads
    int64_t rvar_threads = 1;  ///< so many
    int block_rvar = -1;       ///< among blocks; -1: none
    int64_t rvar_blocks = 1;

    double threads() const { return static_cast<double>(point_threads * rvar_threads); }
    /// Blocks, of which each has a tile of the points.
    double blocks(double points) const;
};

/// Whether an update is such a reduction. Precondition: its iterations may be regrouped.
bool is_long_reduction(const Node &node, const StageCost &stage);

/// \param multiprocessors  that are to be busy
ReductionThreads reduction_threads(const Node &node, const StageCost &stage, int multiprocessors);

}  // namespace Pipe::autoschedule
