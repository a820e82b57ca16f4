#pragma once
// The loop nest of a scheduled pipeline as text.

#include <string>

#include "graph/graph.h"

namespace Pipe::driver {

/// One line per loop, indented, with the production, storage and consumption of Funcs. `inlined` is
/// the result of inline_funcs; the schedule is legal.
std::string loop_nest(const graph::Graph &inlined, const schedules::Schedule &schedule);

}  // namespace Pipe::driver
