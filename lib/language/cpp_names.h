#pragma once
// The C++ names of the Funcs of a graph, for schedule_source().

#include <memory>
#include <vector>

#include "language/contents.h"

namespace Pipe::language {

/// Sets FuncNode::variable, is_declared and made_by. `funcs[i]` became `graph.funcs[i]`.
void name_in_cpp(Graph &graph, const std::vector<std::shared_ptr<const FuncContents>> &funcs);

}  // namespace Pipe::language
