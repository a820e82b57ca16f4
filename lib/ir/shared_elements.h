#pragma once
// Detects elements of Buffers that share memory.

#include <span>

#include <pipe/buffer.h>

namespace Pipe::ir {

/// Whether an element of `a` and one of `b` have a byte in common. Exact, except for strides so
/// irregular that the search takes too long: then true.
bool share_elements(const BufferView &a, const BufferView &b);

/// Whether all coordinates refer to different elements: false for a stride of 0 in a dimension with
/// several elements, or rows longer than the stride to the next. As exact as share_elements().
bool has_distinct_elements(std::span<const BufferDim> dims);

/// Whether each element of `a` has the same address and size as the element of `b` with the same
/// coordinates, if `b` has one.
bool same_places(const BufferView &a, const BufferView &b);

}  // namespace Pipe::ir
