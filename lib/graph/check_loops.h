#pragma once
// Whether the loops of a Func's stages may be as they are scheduled.

#include <string>
#include <vector>

#include "graph/graph.h"

namespace Pipe::graph {

/// CompileError where the loops are not those that the transforms make, two of them are vectorized,
/// one that is unrolled or vectorized is to be partitioned, a prefetch names one that is gone, or
/// threads would store over what others blend.
void check_loops(const FuncNode &f, const schedules::FuncSchedule &s);

/// What was said of the loops of the pure definition, or of the part that they compute, as in
/// "vectorize(x)"; "" if nothing. Permissions and traces do not count.
std::string loop_directive(const FuncNode &f, const schedules::FuncSchedule &s);

/// "x, y (innermost first)"
std::string names_of(const std::vector<schedules::Dim> &dims);

/// Whether it has loops: not where it is inlined everywhere.
inline bool is_computed(const FuncNode &f) {
    return f.is_output || !f.consumers.empty();
}

/// "root", or "loop 'x' of f.update(0)"
std::string describe(const Graph &graph, const schedules::LoopLevel &level);

}  // namespace Pipe::graph
