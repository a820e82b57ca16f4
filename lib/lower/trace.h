#pragma once
// trace: inserts the events of traced Funcs and images (trace_loads, trace_stores,
// trace_realizations, trace_pipeline; pipe/jit.h describes the events).

#include "graph/graph.h"
#include "ir/stmt_node.h"
#include <pipe/schedule.h>

namespace Pipe::lower {

/// Runs right after build(), while loads and stores still have coordinates. `name`: of the
/// pipeline. No change if nothing is traced. Steps:
///
/// 1. The value of a traced load or store becomes trace_value(value, ..., coordinates), which
/// returns
///    the value and reports it. Being impure, it is neither merged nor moved, and runs lane by lane in
///    vectorized loops.
/// 2. Around the storage of a traced Func, its production and the statements that follow (its
///    consumers): a begin event, whose result is the parent of the events inside, and an end event.
/// 3. After the checks of the arguments: the begin of the pipeline, and the tags.
///
///     produce f { f(x) = e }    ->    let f.trace = trace(Produce, ..) {
///                                       produce f { f(x) = trace_value(e, Store, f.trace, x) }
///                                       evaluate trace(EndProduce, f.trace)
///                                     }
ir::Stmt trace(const ir::Stmt &s, const graph::Graph &graph, const schedules::Schedule &schedule,
               const std::string &name, bool trace_pipeline);

}  // namespace Pipe::lower
