#pragma once
// Bounds queries: a program that only computes which regions of inputs are read and which regions
// of outputs are written.

#include <cstdint>

#include "graph/graph.h"
#include "ir/program.h"
#include <pipe/schedule.h>

namespace Pipe::lower {

/// The arguments are those of lower(), whose buffers are used only for their shapes, followed by
/// the int64 buffer `bounds_name`. It receives a DimBounds for every dimension of every image, in
/// order, with extents of 0 if nothing is read; then those of every output value: the requested
/// region, expanded by what updates and tails write. All this twice: for the code that runs if
/// outputs are large enough, and for the code for any size (LowerOptions::any_size). Legal
/// schedule, graph after inline_funcs.
ir::Program bounds_query(const graph::Graph &graph, const schedules::Schedule &schedule);

inline constexpr const char *bounds_name = ".bounds";

struct DimBounds {
    int64_t min, extent;  ///< what is read or written
    /// The shape of a buffer for this region: as promised (set_bounds, set_stride), dense
    /// otherwise.
    int64_t buffer_min, buffer_extent, buffer_stride;
};

}  // namespace Pipe::lower
