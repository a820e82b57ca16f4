#pragma once
// Outputs in the memory of inputs: where that is right, and the schedule for it.
//
// A store to such an output overwrites an element of the input. That is right if all reads of the input
//  * come before the first store: by stages that are computed at root, or inside of such stages, of which
//    the output is made; or
//  * are reads by the pure definition of the output, f(x, y) = .. in(x, y) .., of the element that is
//    stored then, and no point is computed again after it was stored.
// Then the second kind of reads are compiled as reads of the output itself (flatten.h): to the passes, the
// definition is like an update f(x, y) = .. f(x, y) ..

#include <string>
#include <vector>

#include "graph/graph.h"
#include "ir/program.h"

namespace Pipe::lower {

/// Why the values would be wrong, and what to do about it, in sentences; "" where they are right under
/// each_point_once(). `graph` has been through inline_funcs; `schedule` is legal.
std::string in_place_obstacle(const graph::Graph &graph, const schedules::Schedule &schedule,
                              const ir::InPlace &in_place);

/// The schedule whose Auto tails are guarded instead of shifted inwards, for the pure definitions of these
/// outputs: a tail that is shifted computes points again.
schedules::Schedule each_point_once(const graph::Graph &graph, const schedules::Schedule &schedule,
                                    const std::vector<ir::InPlace> &in_place);

}  // namespace Pipe::lower
