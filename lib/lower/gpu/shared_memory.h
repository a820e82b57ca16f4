#pragma once
// shared-memory: where the arrays of a kernel lie.
//
//     launch out.s0 blocks .. threads .. shared 0 {        launch out.s0 blocks .. threads .. shared 1280 {
//       allocate bx[float32 * 32 * 10] {            =>       allocate bx[float32 * 320] in shared memory {
//         for y gpu_thread ..                                  for y gpu_thread ..
//
// Precondition: make_kernels, loops over threads still there.
//
//  1. What is allocated outside of all loops over threads goes to shared memory, one array per block; with
//     MemoryType::Heap to global memory, which is allocated before the launch for all blocks. If each thread accesses
//     only elements of its own (own_elements), and few of them, each has its own array.
//  2. What is allocated inside of a loop over threads belongs to one thread: registers, or the thread's local memory.
//  3. Sizes that differ from block to block are replaced by their upper bounds: constants where there are such, else what
//     the host finds before the launch, in a loop over the blocks of one dimension, or an end of an interval. Arrays in shared memory lie one after
//     the other in the order in which they are nested (shared_array_end), so that those that do not live at the same
//     time share their place.

#include "graph/graph.h"
#include "ir/stmt_node.h"
#include <pipe/target.h>

namespace Pipe::lower {

/// CompileError, with Funcs and bytes, where a size is not known before the launch, or there is not enough shared
/// memory on the target.
ir::Stmt place_arrays(const ir::Stmt &s, const Target &target);

}  // namespace Pipe::lower
