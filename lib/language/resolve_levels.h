#pragma once
// The second half of freezing: resolves the loops named by levels and prefetches.

#include <vector>

#include "graph/names.h"
#include "language/freeze.h"
#include "language/loop_names.h"

namespace Pipe::language {

/// Resolves the Funcs, stages and loops that the user named in compute_at, store_at, hoist_storage,
/// compute_with and prefetch. Requires graph::connect(). CompileError if a named object does not exist.
/// \param funcs the objects behind the Funcs of the graph
/// \param names of the loops of each Func
void resolve_levels(Frozen &frozen, const std::vector<std::shared_ptr<const FuncContents>> &funcs,
                    const std::vector<LoopNames> &names);

}  // namespace Pipe::language
