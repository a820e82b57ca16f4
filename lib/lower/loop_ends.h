#pragma once
// The last, partial vector of a vectorized loop: masked vectors, or lane by lane.

#include "ir/stmt_node.h"
#include <pipe/target.h>

namespace Pipe::lower {

/// Whether a vector condition is the end test of a loop: active lanes depend only on the lane's
/// index.
bool is_end(const Expr &condition);

/// A scalar condition that is true only if a condition with is_end() is true in all lanes: tests
/// the largest or smallest lane.
Expr holds_in_all(const Expr &condition);

/// Whether `s` is cheaper as scalar code per lane than as masked vectors: if most of its accesses have no
/// masked instruction on the target. LLVM scalarizes each of these to a branch per lane, which is slow, and
/// slow to compile.
bool takes_less_lane_by_lane(const ir::Stmt &s, const Target &target);

}  // namespace Pipe::lower
