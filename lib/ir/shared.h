#pragma once
// Walking graphs: which nodes are worth remembering.

#include "ir/expr_node.h"

namespace Pipe::ir {

/// False if the node surely has one parent only, so that a walk meets it once per visit of its parent:
/// walks that remember the shared nodes take linear time on graphs, and stay cheap on trees.
inline bool is_shared(const Expr &e) {
    return !e->args.empty() && e->references.load(std::memory_order_relaxed) > 1;
}

}  // namespace Pipe::ir
