#pragma once
// What a pipeline reads of its inputs and writes of its outputs, as a program that computes nothing
// else.

#include "graph/graph.h"
#include "ir/program.h"
#include <pipe/schedule.h>

namespace Pipe::lower {

/// The arguments are those of lower(), of whose buffers only the shapes are looked at, and at last
/// the int32 buffer of `bounds_name`: it gets min and extent of every dimension of every image, in
/// order, with extents of 0 for what is not read; then those of every output value: what is asked
/// for, grown to what updates and tails write. Legal schedule, graph after inline_funcs.
ir::Program bounds_query(const graph::Graph &graph, const schedules::Schedule &schedule);

inline constexpr const char *bounds_name = ".bounds";

}  // namespace Pipe::lower
