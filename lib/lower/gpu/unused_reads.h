#pragma once
// Kernels do not read what was not computed.
//
//     let f.used = p                                     let f.used = p
//     produce f { if f.used { .. } }                     produce f { if f.used { .. } }
//     for x gpu_thread                            =>     for x gpu_thread
//       g(x) = select(p, f(x), 0)                          g(x) = if_then_else(p, f(x), 0)
//
// A select() evaluates both of its operands. On a CPU, a load whose value is not used does no harm; the emulator reports
// loads of elements that were never stored, and a GPU saves the load where a whole warp does not need it.
//
// Precondition: skip_stages, not flattened.

#include "ir/stmt_node.h"

namespace Pipe::lower {

ir::Stmt guard_unused_reads(const ir::Stmt &s);

}  // namespace Pipe::lower
