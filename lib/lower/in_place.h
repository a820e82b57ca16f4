#pragma once
// Outputs that share memory with inputs: when this is correct, and the schedule for it.
//
// A store to such an output overwrites an element of the input. This is correct if all reads of the
// input
//  * precede the first store: by stages that are computed at root before the output, or inside such
//    stages; or
//  * are in the pure definition of the output, f(x, y) = .. in(x, y) .., and read the element that is
//    then stored, and no point is computed again after it was stored.
// Reads of the second kind are compiled as reads of the output itself (flatten.h): the passes then
// see a definition like an update, f(x, y) = .. f(x, y) ..

#include <string>
#include <vector>

#include "graph/graph.h"
#include "ir/program.h"

namespace Pipe::lower {

/// The reason why the values would be wrong, and what to do about it, in sentences; "" if they are
/// correct under each_point_once(). `graph` is the result of inline_funcs; `schedule` is legal.
std::string in_place_obstacle(const graph::Graph &graph, const schedules::Schedule &schedule,
                              const ir::InPlace &in_place);

/// The schedule with Auto tails guarded instead of shifted inwards, for the pure definitions of
/// these outputs: a shifted tail would recompute points.
schedules::Schedule each_point_once(const graph::Graph &graph, const schedules::Schedule &schedule,
                                    const std::vector<ir::InPlace> &in_place);

}  // namespace Pipe::lower
