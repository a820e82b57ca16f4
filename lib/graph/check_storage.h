#pragma once
// Checks directives on the memory of a Func.

#include "graph/graph.h"

namespace Pipe::graph {

/// CompileError if a Func that is inlined has a directive on its storage or loops, an output has one on its
/// storage, or ring_buffer() is without hoist_storage().
void check_has_storage(const FuncNode &f, const schedules::FuncSchedule &s);

/// CompileError if the stores or loads of a Func are to be non-temporal, but no loop around them is vectorized:
/// processors have such instructions for vectors only.
void check_nontemporal(const Graph &graph, const FuncNode &f, const schedules::Schedule &schedule);

}  // namespace Pipe::graph
