#pragma once
// map_threads: replaces thread loops by the thread's index.
//
//     launch .. threads (32, 8, 1) {                      launch .. threads (32, 8, 1) {
//       for y in [y0, y0 + 10) gpu_thread                   for y.step in [0, 2)
//         for x in [x0, x0 + w) gpu_thread        =>          if y.step * 8 + .thread.y < 10 {
//           bx[..] = ..                                         let y = y0 + y.step * 8 + .thread.y
//                                                               if .thread.x < w { let x = x0 + .thread.x
//                                                                 bx[..] = .. } }
//
// Precondition: insert_barriers. Statements outside of thread loops are executed by all threads of the block, except that
// stores (with the lets around them) are executed by thread 0 only. Stores in nests with fewer thread loops than the block
// has dimensions are executed only by the threads with index 0 in the missing dimensions.

#include "ir/stmt_node.h"

namespace Pipe::lower {

ir::Stmt map_threads(const ir::Stmt &s);

}  // namespace Pipe::lower
