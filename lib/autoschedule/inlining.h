#pragma once
// Inlining decisions, made together with the grouping.

#include <functional>
#include <vector>

#include "autoschedule/stage_graph.h"

namespace Pipe::autoschedule {

/// Inlines, consumers first, every Func for which this computes nothing twice (Jangda 2020,
/// Algorithm 3: pointwise producers, and producers with one pointwise consumer) and every pure copy
/// (boundary conditions, shuffles).
void inline_free_of_cost(StageGraph &graph);

/// Inlines pure copies (boundary conditions, shuffles).
void inline_copies(StageGraph &graph);

/// Expression inlining inside of a group (Jangda 2020, Algorithm 3). A member other than the group's
/// output is inlined if its values depend on values at the same coordinates only, if the only member
/// that reads it does so at the same coordinates, or if its readers need different elements of it,
/// each once. Returns the members that remain. \param members ascending, the output last
std::vector<int> inline_in_group(StageGraph &graph, const std::vector<int> &members);

/// Whether inlining `node` would compute some values more than once but may still be profitable.
bool is_inlining_choice(const StageGraph &graph, int node);

/// The same, or it is a copy, which is not computed again wherever it is read.
bool may_inline(const StageGraph &graph, int node);

/// Whether every value of `node` depends only on values at the same coordinates (Algorithm 3:
/// isPointwise).
bool is_pointwise(const StageGraph &graph, int node);

/// Whether computing a point of `node` costs what loading its operands costs: no more operations than
/// loads, all of them of the same point; or it is a copy, such as a boundary condition.
bool is_trivial(const StageGraph &graph, int node);

/// Whether recomputing the values of `node` where they are used costs no more than storing and
/// loading them: a local criterion for pipelines too large to try both.
bool recompute_is_cheaper(const StageGraph &graph, int node);

}  // namespace Pipe::autoschedule
