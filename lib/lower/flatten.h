#pragma once
// flatten: from multi-dimensional storage to flat memory.

#include "graph/graph.h"
#include "ir/program.h"
#include "ir/stmt_node.h"

namespace Pipe::lower {

/// Precondition: built by build(). Afterward there is no Provide, Realize, Call Func or Call Image.
///
///  1. Realize -> Allocate, one per tuple element ("f", or "f.0", "f.1", ...), dimensions in storage
///     order, with lets for "f.min.d" and "f.stride.d". Strides are padded to avoid cache-set
///     conflicts.
///  2. Provide -> Store, Call -> Load, at index Σ (x_d - min_d) * stride_d. The index is computed in
///     int32 if the whole allocation is small and has a constant size, else in int64: images with
///     more than 2^31 elements work.
///
///     provide f(x, y) = g(x, y + 1)
///     ->  f[(x - f.min.0) + (y - f.min.1)*f.stride.1] =
///             g[(x - g.min.0) + (y + 1 - g.min.1)*g.stride.1]
///
///     Part of a Func or image for a C function
///     ->  raw_buffer(.., address_of(load of its first element), ..)
///  3. Values that depend on undef() are not stored (undef.h). A Provide with scatters becomes
///     several Stores.
///  4. If a Func that is stored in the memory of an input reads that input, it reads itself
///     (in_place.h).
///
/// `strides`: known strides of inputs and outputs.
ir::Stmt flatten(const ir::Stmt &s, const graph::Graph &graph, const schedules::Schedule &schedule,
                 const Target &target, const std::vector<ir::KnownStride> &strides,
                 const std::vector<ir::InPlace> &in_place = {});

}  // namespace Pipe::lower
