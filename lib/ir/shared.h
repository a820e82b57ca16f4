#pragma once
// Walking graphs: which nodes are worth remembering.

#include "ir/expr_node.h"

namespace Pipe::ir {

/// False if the node surely has one parent only, so that a walk meets it once per visit of its
/// parent: walks that remember the shared nodes take linear time on graphs, and stay cheap on
/// trees. `own`: how many of the references to the node are the walk's own.
inline bool is_shared(const Expr &e, int own = 0) {
    return !e->args.empty() && e->references.load(std::memory_order_relaxed) > 1 + own;
}

}  // namespace Pipe::ir
