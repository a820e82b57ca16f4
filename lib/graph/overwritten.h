#pragma once
// Values of a pure definition that nothing reads, because the first update stores over them.

#include <optional>

#include "graph/graph.h"

namespace Pipe::graph {

struct Overwritten {
    size_t dim = 0;  ///< of the Func
    Expr min, max;   ///< along this dimension; all of the others
};

/// f(x, y) = 0, f(x, r) = f(x, r - 1) + g(x, r): of the pure definition, only what lies outside of r's range is
/// read. Nothing where the update may leave an element as it is, or reads one before it has stored it.
/// Nothing either for a pure definition that reads other Funcs: loops that compute them have to run as a whole.
std::optional<Overwritten> overwritten(const FuncNode &func);

}  // namespace Pipe::graph
