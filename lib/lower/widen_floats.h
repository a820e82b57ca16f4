#pragma once
// widen_floats: arithmetic on 16-bit floats is done in float32.

#include "ir/stmt_node.h"

namespace Pipe::lower {

/// Operations on float16 and bfloat16 become casts to float32, the operation in float32, and a cast
/// back, which rounds. A float32 has more than twice as many bits, so +, -, *, / and sqrt are
/// rounded correctly. Data movement (loads, selects, broadcasts) is unchanged.
///
///     a + b  ->  float16(float32(a) + float32(b))
ir::Stmt widen_floats(const ir::Stmt &s);

}  // namespace Pipe::lower
