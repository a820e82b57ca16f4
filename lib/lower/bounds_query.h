#pragma once
// What a pipeline reads of its inputs and writes of its outputs, as a program that computes nothing
// else.

#include <cstdint>

#include "graph/graph.h"
#include "ir/program.h"
#include <pipe/schedule.h>

namespace Pipe::lower {

/// The arguments are those of lower(), of whose buffers only the shapes are looked at, and at last
/// the int64 buffer of `bounds_name`: it gets a DimBounds for every dimension of every image, in
/// order, with extents of 0 for what is not read; then those of every output value: what is asked
/// for, grown to what updates and tails write. All that twice: of the code that runs where outputs are
/// large enough, then of the code for any size (LowerOptions::any_size). Legal schedule, graph after
/// inline_funcs.
ir::Program bounds_query(const graph::Graph &graph, const schedules::Schedule &schedule);

inline constexpr const char *bounds_name = ".bounds";

struct DimBounds {
    int64_t min, extent;  ///< what is read or written
    /// What a buffer needs that holds it: as promised (set_bounds, set_stride), dense elsewhere.
    int64_t buffer_min, buffer_extent, buffer_stride;
};

}  // namespace Pipe::lower
