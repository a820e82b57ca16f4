#pragma once
// Arithmetic on 16-bit floats is done as float.

#include "ir/stmt_node.h"

namespace Pipe::lower {

/// Operations on float16 and bfloat16 become casts to float32, the operation there, and a cast back,
/// which rounds. A float has more than twice their bits, so +, -, *, / and sqrt round as if it was
/// done once. What moves values only (loads, selects, broadcasts) stays.
///
///     a + b  ->  float16(float32(a) + float32(b))
ir::Stmt widen_floats(const ir::Stmt &s);

}  // namespace Pipe::lower
