#pragma once
// Run-time checks that a kernel makes before it computes anything.

#include "ir/program.h"
#include "region/plan.h"

namespace Pipe::lower {

/// Asserts the promises about every buffer: bound, set_min, set_extent, set_stride, the known
/// strides, equal shapes for the buffers of a tuple; and that split factors are at least 1.
ir::Stmt shape_checks(const region::RegionPlan &plan, const std::vector<ir::KnownStride> &strides);

/// Asserts that every input covers the region that the pipeline reads, and every output the region
/// that is written: an update may write elsewhere, a tail may round up. Conditions that can be
/// proven are not tested. Each message contains the buffer, the dimension, both ranges, and the
/// stages that read it with their source lines.
ir::Stmt region_checks(const region::RegionPlan &plan);

/// The region that the Buffers of an output must cover: the requested region, what updates and
/// tails write beyond it, what other stages read, and a whole factor if a split shifts inwards.
region::Box needed_output(const region::RegionPlan &plan, FuncId output);

/// Asserts, at the Func's compute level, that each computation is within the promised extents
/// (bound_extent); at root, region_checks() does.
ir::Stmt computation_checks(const region::RegionPlan &plan, FuncId func);

/// "g (blur.cpp:12), h.update(0) (blur.cpp:20)": the definitions of other Funcs that read the Func
/// or image.
std::string readers_of(const region::LoopTree &tree, const std::string &name);

}  // namespace Pipe::lower
