#pragma once
// Sums of which the processor adds up neighboring terms by one instruction.

#include <optional>

#include "graph/graph.h"
#include "ir/narrow_term.h"

namespace Pipe::graph {

/// What an update adds to its element, if it is of the forms of ir/narrow_term.h.
std::optional<ir::NarrowTerm> narrow_sum(const FuncNode &func, size_t stage);

}  // namespace Pipe::graph
