#pragma once
// barriers: threads of a block wait where one uses what another one stored.
//
//     for y gpu_thread { for x gpu_thread { bx[..] = .. } }            for y gpu_thread { .. }
//     for yi gpu_thread { for xi gpu_thread { out[..] = bx[..] } }  => barrier
//                                                                      for yi gpu_thread { .. }
//
// Precondition: place_arrays, loops over threads still there. All that stands outside of them is the same for all
// threads of the block, so barriers can stand there.
//
//  1. A nest of loops over threads, or what stands outside of them, is one step. A barrier goes before a step that reads
//     what was stored, or stores what was read or stored, since the last barrier. The body of a loop follows itself.
//  2. An array in shared memory may lie where another one lay whose life has ended (place_arrays).
//  3. No barrier is needed for a buffer of which each thread only accesses elements of its own (own_elements).
//  4. Nor between the stores of a pure definition: it stores each element once.

#include <set>
#include <string>

#include "ir/stmt_node.h"

namespace Pipe::lower {

ir::Stmt insert_barriers(const ir::Stmt &s);

}  // namespace Pipe::lower
