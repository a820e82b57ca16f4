#pragma once
// Parallel loops: what pipe_parallel_for calls.
//
// A loop that stands in no other runs on a team of OpenMP's threads, which take ranges of its iterations in
// turn. A loop inside of another begins on the thread that comes to it. Threads of the team that find no
// iteration left in the outer loop wait for its end; between two ranges an inner loop looks for such threads,
// and asks as many as there are, and as it has iterations for, to take part. So an inner loop costs next to
// nothing as long as all threads are busy, and no more threads run than the context allows.

#include "jit/runtime.h"

namespace Pipe::jit {

/// Calls `body` on ranges that together are [min, min + extent). The code of the first failure, or 0.
int32_t parallel_for(Context *context, codegen::RangeBody *body, int32_t min, int32_t extent,
                     void *closure);

}  // namespace Pipe::jit
