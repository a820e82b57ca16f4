#pragma once
// threads: loops over threads become places of threads.
//
//     launch .. threads (32, 8, 1) {                      launch .. threads (32, 8, 1) {
//       for y in [y0, y0 + 10) gpu_thread                   for y.step in [0, 2)
//         for x in [x0, x0 + w) gpu_thread        =>          if y.step * 8 + .thread.y < 10 {
//           bx[..] = ..                                         let y = y0 + y.step * 8 + .thread.y
//                                                               if .thread.x < w { let x = x0 + .thread.x
//                                                                 bx[..] = .. } }
//
// Precondition: insert_barriers. What stands outside of loops over threads runs in all threads of the block; of it,
// stores, with the lets around them, run in the first one only, and so do stores in nests with fewer loops over threads than the block has dimensions.

#include "graph/graph.h"
#include "ir/stmt_node.h"

namespace Pipe::lower {

/// \param graph  for messages; may be null
ir::Stmt map_threads(const ir::Stmt &s, const graph::Graph *graph);

}  // namespace Pipe::lower
