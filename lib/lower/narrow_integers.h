#pragma once
// narrow_integers: arithmetic of vectors of 32 bits or more whose values fit into 16 bits is done in 16 bits.

#include "ir/stmt_node.h"

namespace Pipe::lower {

/// A vector register has twice as many lanes of 16 bits as of 32, and programs on bytes compute in int, as C++ does, though
/// few of their values need it. What an expression makes of int8, uint8, int16 and uint16 has an interval; as long as it
/// is that of int16 or uint16, the operations are done in that type. Sums, differences and products may leave it on
/// the way, since their lowest 16 bits depend on those of their operands only.
///
///     uint8((66 * int32(r) + 129 * int32(g) + 128) / 256)   ->  uint8((66 * uint16(r) + 129 * uint16(g) + 128) / 256)
///     int32(a) - int32(b), where more bits are needed next  ->  int32(int16(a) - int16(b))
///
/// Unchanged: indices, sums of lanes (ir/narrow_term.h), and kernels, whose threads have no vectors of such types.
ir::Stmt narrow_integers(const ir::Stmt &s);

}  // namespace Pipe::lower
