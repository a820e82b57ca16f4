#pragma once
// The loops of a scheduled pipeline as text for people.

#include <string>

#include "graph/graph.h"

namespace Pipe::driver {

/// One line per loop, indented; what is produced, stored and used where. `inlined` has been through
/// inline_funcs; the schedule is legal.
std::string loop_nest(const graph::Graph &inlined, const schedules::Schedule &schedule);

}  // namespace Pipe::driver
