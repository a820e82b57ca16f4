#pragma once
// memoize() and memoize_tag(): what the values of a Func depend on besides its coordinates.

#include "graph/graph.h"

namespace Pipe::graph {

bool is_memoize_tag(const ir::ExprNode &node);

/// Fills in the keys of all Funcs that are memoized (schedules::Memoized::key), of definitions that
/// still have their tags. CompileError where a Func depends on what can be no key: the contents of
/// an ImageParam, a pointer.
void find_memoize_keys(const Graph &graph, schedules::Schedule &schedule);

/// Takes the tags out of all definitions.
void remove_memoize_tags(Graph &graph);

}  // namespace Pipe::graph
