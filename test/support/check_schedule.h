#pragma once
// All that says whether the schedule that Funcs were given may be: a CompileError where it may not.

#include <vector>

#include "graph/check.h"
#include "language/freeze.h"
#include "poly/races.h"

inline void check_schedule(const std::vector<Pipe::Func> &outputs) {
    Pipe::language::Frozen f = Pipe::language::freeze(outputs);
    Pipe::graph::Graph inlined = Pipe::graph::inline_funcs(f.graph, f.schedule);
    Pipe::graph::check(inlined, f.schedule);
    Pipe::poly::check_races(inlined, f.schedule, {});
}
