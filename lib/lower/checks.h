#pragma once
// The tests that a kernel makes before it computes anything.

#include "ir/stmt_node.h"
#include "region/region_map.h"

namespace Pipe::lower {

/// Asserts that
///  1. every buffer keeps what was promised of it (bound, set_min, set_extent, set_stride, and unit
///     stride in dimension 0 for those in `dense`);
///  2. every input holds the region that the pipeline reads;
///  3. every output holds the region that is written: an update may write elsewhere, a tail may round up.
/// What can be proven is not tested. Each message names the buffer, the dimension, both ranges, and the
/// stages that read it with their source lines.
ir::Stmt checks(region::RegionMap &regions, const std::vector<std::string> &dense);

}  // namespace Pipe::lower
