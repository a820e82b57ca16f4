#pragma once
// Puts the events that the user wants to see into the loops (trace_loads, trace_stores,
// trace_realizations, trace_pipeline; pipe/jit.h describes the events).

#include "graph/graph.h"
#include "ir/stmt_node.h"
#include <pipe/schedule.h>

namespace Pipe::lower {

/// Right after build(), while loads and stores still have coordinates. `name`: of the pipeline.
/// Nothing changes where nothing is traced. Steps:
///
/// 1. The value of a traced load or store becomes trace_value(value, ..., coordinates), which is
///    the value, and tells of it. Being impure, it is neither merged nor moved, and runs lane by lane
///    in vectorized loops.
/// 2. Around the storage of a traced Func, around what produces it and around what follows (which
///    consumes it): an event, whose answer is the parent of the events inside, and one at the end.
/// 3. After the checks of the arguments: the begin of the pipeline, and the tags.
///
///     produce f { f(x) = e }    ->    let f.trace = trace(Produce, ..) {
///                                       produce f { f(x) = trace_value(e, Store, f.trace, x) }
///                                       evaluate trace(EndProduce, f.trace)
///                                     }
ir::Stmt trace(const ir::Stmt &s, const graph::Graph &graph, const schedules::Schedule &schedule,
               const std::string &name, bool trace_pipeline);

}  // namespace Pipe::lower
