#pragma once
// barriers: threads of a block wait where one uses what another one stored.
//
//     for y gpu_thread { for x gpu_thread { bx[..] = .. } }            for y gpu_thread { .. }
//     for yi gpu_thread { for xi gpu_thread { out[..] = bx[..] } }  => barrier
//                                                                      for yi gpu_thread { .. }
//
// Precondition: after place_arrays, before map_threads (thread loops still exist). Statements outside of thread loops are
// executed uniformly by all threads of the block, so barriers are legal there.
//
//  1. A nest of thread loops, or a statement outside of them, is one step. A barrier is inserted before a step that has a
//     read-after-write, write-after-read or write-after-write hazard with a step since the last barrier; in a serial
//     loop, also with the previous iteration.
//  2. Arrays in shared memory may share addresses if their lifetimes are disjoint (place_arrays): this counts as a hazard.
//  3. No barrier is needed for a buffer of which each thread accesses only its own elements (own_elements),
//  4. nor between the stores of a pure definition, which stores each element once.

#include <set>
#include <string>

#include "ir/stmt_node.h"

namespace Pipe::lower {

ir::Stmt insert_barriers(const ir::Stmt &s);

}  // namespace Pipe::lower
