#pragma once
// What the user's directives leave for the autoscheduler to decide.

#include <vector>

#include "graph/graph.h"
#include <pipe/schedule.h>

namespace Pipe::autoschedule {

/// The decisions that the user's directives leave open for a Func.
enum class Role : uint8_t {
    Free,     ///< all
    Root,     ///< it is stored for all of its consumers; its loops are open
    Fixed,    ///< its loops and levels are the user's; nothing can be fused into it
    Inlined,  ///< inlined into its consumers
};

/// Whether a directive on its storage requires that it has some.
bool must_be_stored(const schedules::FuncSchedule &user);

/// One per Func.
std::vector<Role> roles_of(const graph::Graph &graph, const schedules::Schedule &user);

/// Funcs without a level of which directives need the place that lowering finds in the loops of their readers: they
/// get no other one.
std::vector<bool> placed_by_readers(const graph::Graph &graph, const schedules::Schedule &user);

/// Adds the levels that follow from the user's: of f.compute_at(g, x), every Func between f and g
/// that has no level is computed there too (Funcs that read f without being read by g get none); with store_at() or store_root() alone, a Func is
/// computed where it is stored.
void complete_levels(const graph::Graph &graph, schedules::Schedule &user);

}  // namespace Pipe::autoschedule
