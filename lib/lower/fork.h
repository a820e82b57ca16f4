#pragma once
// fork_tasks: the two tasks of every async Func.
//
// build() emits `fork f { S } and { S }`, with the production of f and its consumers in both:
//
//     fork f, 2 {                                        fork f, 2 {
//       for y {                                            for y {
//         produce f { acquire f.free; F; release f.ready }   acquire f.free; F; release f.ready
//         consume f { acquire f.ready; R; release f.free } }
//       }                                            =>  } and {
//     } and { the same }                                   for y {
//                                                            acquire f.ready; R; release f.free
//                                                          }
//                                                        }
//
// Precondition: built; not flattened.
//
//  1. Outermost forks first. The producer's task keeps the production of f and, of what else is
//     produced inside the fork, what f needs, with the loops around it. The consumer's task keeps the
//     rest.
//  2. What both need is computed by both, if its storage lies inside the fork; otherwise CompileError:
//     two tasks would write the same memory.
//  3. Remaining forks in the two halves are processed in the same way.

#include "graph/graph.h"
#include "ir/stmt_node.h"

namespace Pipe::lower {

ir::Stmt fork_tasks(const ir::Stmt &s, const graph::Graph &graph);

}  // namespace Pipe::lower
