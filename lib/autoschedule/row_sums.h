#pragma once
// Sums with lanes along an RVar: over the contiguous dimension of their operands, as of the rows of a matrix.
//
// Each lane has a sum of its own; they are added up at the end (lower/private_accumulators.h). Several vectors, or several
// rows that share an operand, hide the latency of the additions. Lanes of narrow integers are added up in groups, by one
// instruction (ir/narrow_term.h).

#include "autoschedule/register_block.h"

namespace Pipe::autoschedule {

constexpr double least_iterations =
    4;  ///< of the RVars, for which loading and storing the sums is worthwhile
constexpr double loop_clocks = 0.75;  ///< counter and branch, per iteration of the RVars
constexpr double sum_latency = 5;  ///< of one addition, and a little more where something is late

/// Vectors that one load of a vector touches: two where it lies across the ends of cache lines. With the
/// instructions that shuffle them, where its elements are apart.
double lines_of(const poly::Access &load, const Machine &machine);

/// For reductions of which lanes along dimension 0 would gather. Nothing if the reduction must not be
/// reassociated or is short, or if no RVar makes every operand contiguous or uniform.
std::optional<RegisterBlock> row_sums(const Node &node, size_t stage,
                                      const std::vector<int64_t> &extents, const Machine &machine,
                                      int cores);

}  // namespace Pipe::autoschedule
