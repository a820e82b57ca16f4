#pragma once
// The tests that a kernel makes before it computes anything.

#include "ir/stmt_node.h"
#include "region/region_map.h"

namespace Pipe::lower {

/// Asserts that every buffer keeps what was promised of it: bound, set_min, set_extent, set_stride, unit
/// stride in dimension 0 for those in `dense`, one shape for the buffers of a tuple. And that loops are split
/// by factors of at least 1.
ir::Stmt shape_checks(region::RegionMap &regions, const std::vector<std::string> &dense);

/// Asserts that every input holds the region that the pipeline reads, and every output the region that is
/// written: an update may write elsewhere, a tail may round up. What can be proven is not tested. Each
/// message names the buffer, the dimension, both ranges, and the stages that read it with their source
/// lines.
ir::Stmt region_checks(region::RegionMap &regions);

/// What the Buffers of an output must hold: the region that is asked for, what updates and tails write
/// beyond it, what other stages read, and a whole factor where a split shifts inwards.
region::Box needed_output(region::RegionMap &regions, FuncId output);

/// Asserts, where the Func is computed, that each computation is within the extents that were
/// promised (bound_extent); for the one at root, region_checks() does.
ir::Stmt computation_checks(region::RegionMap &regions, FuncId func);

/// "g (blur.cpp:12), h.update(0) (blur.cpp:20)": the definitions that read the Func or image, itself left out.
std::string readers_of(const region::LoopTree &tree, const std::string &name);

}  // namespace Pipe::lower
