#pragma once
// unroll_loops: a loop of kind Unrolled becomes one copy of its body per iteration.
//
//     for[unrolled] c in [0, 3) {            out[i]     = in[i]
//       out[i + c*s] = in[i + c*s]      =>   out[i + s] = in[i + s]
//     }                                      out[i + s*2] = in[i + s*2]
//
// Precondition: none. The extent must be a constant, or have a constant upper bound: then each copy that
// may not be needed runs under `if (k < extent)`. CompileError otherwise (with HL_PERMIT_FAILED_UNROLL=1
// in the environment the loop stays serial), and where nested unrolled loops make too many copies.
//
//  1. Inner loops first.
//  2. The variable is replaced by min + k in copy k.

#include "ir/stmt_node.h"

namespace Pipe::lower {

ir::Stmt unroll_loops(const ir::Stmt &s);

}  // namespace Pipe::lower
