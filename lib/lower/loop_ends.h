#pragma once
// The end of a vectorized loop, where only some lanes are on: vectors with masks, or lane by lane.

#include "ir/stmt_node.h"
#include <pipe/target.h>

namespace Pipe::lower {

/// Whether a vector condition tests for the end of a loop: which lanes are on depends on nothing but their
/// number.
bool is_end(const Expr &condition);

/// A scalar that is true only if a condition for which is_end() holds is true in all lanes: a test of the
/// largest or smallest lane.
Expr holds_in_all(const Expr &condition);

/// Whether s takes less lane by lane than as vectors with masks, each of which is a branch for each lane on a
/// target without such instructions: where little more is done than loading and storing.
bool takes_less_lane_by_lane(const ir::Stmt &s, const Target &target);

}  // namespace Pipe::lower
