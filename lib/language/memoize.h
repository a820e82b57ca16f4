#pragma once
// memoize() and memoize_tag(): the cache keys of memoized Funcs.

#include "graph/graph.h"

namespace Pipe::language {

bool is_memoize_tag(const ir::ExprNode &node);

/// Computes the keys of all memoized Funcs (schedules::Memoized::key). The definitions must still
/// have their tags. CompileError if a Func depends on a value that cannot be a key: the contents of
/// an ImageParam, a pointer.
void find_memoize_keys(const graph::Graph &graph, schedules::Schedule &schedule);

/// Removes the tags from all definitions.
void remove_memoize_tags(graph::Graph &graph);

}  // namespace Pipe::language
