#pragma once
// prefetches: the loop nests of prefetch directives.

#include "ir/stmt_node.h"
#include "region/plan.h"

namespace Pipe::lower {

/// The prefetches of the stage just inside its loop `at`: per directive, a nest over the cache
/// lines of the data that a later iteration reads.
///
///     for in.y in [...) { for in.x in [0, lines) { prefetch in(x.min + in.x * elements_of_line, in.y) } }
///
/// CompileErrors if the stage does not read the data, or if its storage is allocated separately in
/// each iteration.
ir::Stmt prefetches(const region::RegionPlan &plan, const region::StageNest &nest,
                    const region::StageLoop &at);

}  // namespace Pipe::lower
