#pragma once
// A schedule as C++ code.

#include <string>

#include "graph/graph.h"

namespace Pipe::graph {

/// Directives that reproduce this schedule when pasted after the definitions (without other
/// directives). They refer to the Func named "blur" by a C++ variable `blur`, and to Params and
/// images likewise; in names that are not identifiers, other characters are replaced by '_'.
/// specialize() is written as a comment.
std::string schedule_source(const Graph &graph, const schedules::Schedule &schedule);

}  // namespace Pipe::graph
