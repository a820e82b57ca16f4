#pragma once
// Inlining in the stage graph: a Func's loads and operations become those of its consumers.

#include "autoschedule/stage_graph.h"

namespace Pipe::autoschedule {

/// Replaces all loads of `node` (which must be pure) by its definition.
void substitute(StageGraph &graph, int node);

/// Whether every iteration of every consumer of `node` would have at most so many loads after
/// substitute(), and so many instructions as written.
bool fits_after_substitute(const StageGraph &graph, int node, size_t most_loads,
                           double most_written);

}  // namespace Pipe::autoschedule
