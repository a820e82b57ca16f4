#pragma once
// Which Funcs are substituted into their consumers, decided together with the grouping.

#include <functional>
#include <vector>

#include "autoschedule/stage_graph.h"

namespace Pipe::autoschedule {

/// Substitutes, consumers first, every Func whose substitution computes nothing twice (Jangda 2020,
/// Algorithm 3: pointwise producers, and producers with one pointwise consumer) and every mere copy
/// (boundary conditions, shuffles).
void inline_free_of_cost(StageGraph &graph);

/// Whether the substitution of `node` would compute some values more than once but may still pay.
bool is_inlining_choice(const StageGraph &graph, int node);

/// Whether every value of `node` is made of values at its own place only (Algorithm 3: isPointwise).
bool is_pointwise(const StageGraph &graph, int node);

/// Whether computing the values of `node` again where they are read costs no more than storing and
/// loading them: the local form of the question, for pipelines too large to try both.
bool recompute_is_cheaper(const StageGraph &graph, int node);

}  // namespace Pipe::autoschedule
