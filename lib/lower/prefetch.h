#pragma once
// The loops that a prefetch directive makes.

#include "ir/stmt_node.h"
#include "region/region_map.h"

namespace Pipe::lower {

/// What the stage prefetches just inside its loop `at`: per directive, a nest over the cache lines of
/// what a later iteration reads.
///
///     for in.y in [...) { for in.x in [0, lines) { prefetch in(x.min + in.x * elements_of_line, in.y) } }
///
/// CompileErrors for what the stage does not read, and for storage that a later iteration has anew.
ir::Stmt prefetches(const region::LoopTree &tree, region::RegionMap &regions,
                    const region::StageNest &nest, const region::StageLoop &at);

}  // namespace Pipe::lower
