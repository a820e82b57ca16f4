#pragma once
// A schedule as C++.

#include <string>

#include "graph/graph.h"

namespace Pipe::graph {

/// Directives that give this schedule when they are pasted after the definitions (and no others are
/// given). They take the Func named "blur" from a C++ variable `blur`, and Params and images so
/// too; a name that is no identifier has '_' in place of other characters. specialize() is left as
/// a comment.
std::string schedule_source(const Graph &graph, const schedules::Schedule &schedule);

}  // namespace Pipe::graph
