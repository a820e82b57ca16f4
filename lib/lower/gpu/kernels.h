#pragma once
// kernels: nests of gpu_block loops become launches.
//
//     for yo in [0, h) gpu_block                      launch out.s0 blocks (w, h, 1) threads (32, 8, 1) {
//       for xo in [0, w) gpu_block                      let yo = .block.y
//         for yi in [0, 8) gpu_thread           =>      let xo = .block.x
//           for xi in [0, 32) gpu_thread                for yi in [0, 8) gpu_thread
//             out[..] = ..                                for xi in [0, 32) gpu_thread
//                                                           out[..] = ..
//                                                     }
//
// Precondition: flattened, vectorized.
//
//  1. The innermost block loop is dimension x. An extent that differs from block to block is replaced by its upper
//     bound, and the block tests whether it is inside.
//  2. The numbers of threads are the extents of the thread loops of the stage that the blocks are of: the innermost
//     thread loop is dimension x. Other stages in the kernel may have more iterations: their threads take several.
//     Where that stage has no thread loops, the largest extents in the kernel. The parts of a reduction
//     (private_accumulators.h) have threads of their own: then the larger extents of both.
//  3. What a kernel cannot contain is a CompileError.

#include <set>
#include <string>

#include "ir/stmt_node.h"

namespace Pipe::lower {

/// \param parts  the names of Funcs that hold the parts of reductions
ir::Stmt make_kernels(const ir::Stmt &s, const std::set<std::string> &parts = {});

/// Dimension of a thread loop: 0 (x) for the innermost of its nest.
size_t thread_dimension(const ir::StmtNode &loop);

inline bool is_thread_loop(const ir::StmtNode &s) {
    return s.op == ir::StmtOp::For &&
           (s.kind == LoopKind::GPUThread || s.kind == LoopKind::GPULane);
}

}  // namespace Pipe::lower
