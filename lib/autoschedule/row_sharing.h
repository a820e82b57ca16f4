#pragma once
// What neighboring rows share where several of them are computed together.
//
// Of a window of n rows, one row reads n. A block of R rows whose loop is unrolled around the vector reads
// n + R - 1 together, and computes as many of the values that were substituted: each once.

#include "autoschedule/stage_graph.h"

namespace Pipe::autoschedule {

/// Points of a short dimension, such as the channels of a color, that may be unrolled.
constexpr int64_t most_channels = 4;

/// Whether most of the work is the same for all points along a dimension, as it is for the arms of a mux.
bool have_most_in_common(const StageCost &stage, int dim);
/// Whether the points of a dimension are channels: so few, or a few more that have most of their work in common.
bool are_channels(const StageCost &stage, int dim, int64_t extent);

struct Rows {
    int dim = -1;       ///< of the Func; -1: none
    int64_t count = 1;  ///< computed together
    bool operator==(const Rows &) const = default;
};

/// The part of the loads of an element (or evaluations of a value) that is left per row.
/// Nothing is shared with accesses before `index` in the list: the sum over all is what a row takes.
struct RowSharing {
    std::vector<double> loads;      ///< per StageCost::loads
    std::vector<double> evaluated;  ///< per StageCost::evaluated
    double live = 0;                ///< vectors that wait for the next rows
};

/// Whether the rows of a load along dimension `dim` are columns of what it reads: where both it and dimension 0
/// have enough points, rows are loaded and transposed (lower/share_strided_loads.h).
bool is_transposed(const poly::Access &load, int dim);

RowSharing share_rows(const StageCost &stage, const Rows &rows);

}  // namespace Pipe::autoschedule
