#pragma once
// Checks the loops of a Func's stages.

#include <string>
#include <vector>

#include "graph/graph.h"

namespace Pipe::graph {

/// CompileError if the loops are not the result of the transforms, an unrolled or vectorized loop has
/// always_partition(), a prefetch names a loop that no longer exists, a pure definition is atomic, or
/// threads would overwrite elements that others blend.
void check_loops(const FuncNode &f, const schedules::FuncSchedule &s);

/// A directive on the loops of the pure definition or on the region that they compute, for example
/// "vectorize(x)"; "" if there is none. Permissions and traces do not count.
std::string loop_directive(const FuncNode &f, const schedules::FuncSchedule &s);

/// "x, y (innermost first)"
std::string names_of(const std::vector<schedules::Dim> &dims);

/// Whether it has loops: false if it is inlined everywhere.
inline bool is_computed(const FuncNode &f) {
    return f.is_output || !f.consumers.empty();
}

/// "root", or "loop 'x' of f.update(0)"
std::string describe(const Graph &graph, const schedules::LoopLevel &level);

}  // namespace Pipe::graph
