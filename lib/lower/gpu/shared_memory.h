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
//  3. Sizes that differ between blocks are replaced by an upper bound: a constant if there is one, else an expression that
//     the host evaluates before the launch (the maximum over the blocks of one dimension, or the end of an interval).
//     Arrays in shared memory are laid out in nesting order (shared_array_end), so that arrays with disjoint lifetimes
//     share addresses.

#include "graph/graph.h"
#include "ir/stmt_node.h"
#include <pipe/target.h>

namespace Pipe::lower {

/// CompileError, with Funcs and bytes, where a size is not known before the launch, or there is not enough shared
/// memory on the target.
ir::Stmt place_arrays(const ir::Stmt &s, const Target &target);

}  // namespace Pipe::lower
