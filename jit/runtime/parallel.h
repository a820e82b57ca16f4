#pragma once
// Parallel loops: the implementation of pipe_parallel_for.
//
// An outermost loop runs on a team of OpenMP threads, which take ranges of its iterations. A nested
// loop begins on the thread that reaches it. Threads of the team that find no iteration left in the
// outer loop wait for its end; between two ranges, a nested loop looks for such threads, and
// recruits as many as it has iterations for. So a nested loop has almost no overhead while all
// threads are busy, and no more threads run than the context allows.

#include "jit/runtime/runtime.h"

namespace Pipe::runtime {

/// Calls `body` on ranges that together cover [min, min + extent). Returns the code of the first
/// failure, or 0.
int32_t parallel_for(Context *context, RangeBody *body, int32_t min, int32_t extent, void *closure);

}  // namespace Pipe::runtime
