#pragma once
// Which elements of Buffers lie in the same memory.

#include <span>

#include <pipe/buffer.h>

namespace Pipe::ir {

/// Whether an element of `a` and one of `b` have a byte in common. Exact, but for shapes whose strides
/// are so irregular that looking for one takes too long: then true.
bool share_elements(const BufferView &a, const BufferView &b);

/// Whether no two coordinates are the same element: false for a stride of 0 in a dimension of several
/// elements, or rows that are longer than the stride to the next. As exact as share_elements().
bool has_distinct_elements(std::span<const BufferDim> dims);

/// Whether each element of `a` is the element of `b` with the same coordinates, as far as `b` has one, and
/// has as many bits.
bool same_places(const BufferView &a, const BufferView &b);

}  // namespace Pipe::ir
