#pragma once
// What an update definition allows its loops to do.


#include "graph/graph.h"

namespace Pipe::graph {

/// True if the points of the stage's RVars may run in any order: every value combines the element
/// that is written with something that does not read the Func, by one of + * min max && || (of
/// floats too: the result then differs by rounding).
bool is_commutative(const FuncNode &func, const Stage &stage);

}  // namespace Pipe::graph
