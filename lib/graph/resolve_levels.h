#pragma once
// The second half of freezing: the loops that levels and prefetches name.

#include <vector>

#include "graph/freeze.h"
#include "graph/names.h"

namespace Pipe::graph {

/// Finds the Funcs, stages and loops that compute_at, store_at, hoist_storage, compute_with and
/// prefetch name by the user's handles. The graph is connected already. CompileError where what is
/// named does not exist.
/// \param funcs what the Funcs of the graph were made of
/// \param names of the loops of each Func
void resolve_levels(Frozen &frozen, const std::vector<std::shared_ptr<const FuncContents>> &funcs,
                    const std::vector<LoopNames> &names);

}  // namespace Pipe::graph
