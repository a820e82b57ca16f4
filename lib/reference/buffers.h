#pragma once
// The buffers that the caller of evaluate() gives.

#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "reference/grid.h"

namespace Pipe::reference {

/// A name, as messages show it.
std::string quoted(const std::string &name);

/// The coordinates of the elements.
Box box_of(std::span<const BufferDim> dims);

/// RuntimeError unless there is one buffer, with memory, for each value of each output, and their types and
/// dimensions are the outputs'.
void check_outputs(const graph::Graph &graph, const std::vector<BufferView> &outputs);

}  // namespace Pipe::reference
