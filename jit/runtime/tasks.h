#pragma once
// Concurrent tasks that wait for each other: pipe_fork, pipe_semaphore_* and pipe_lock_*
// (jit/runtime/abi.h).
//
// Each fork has its own thread for its first task: because tasks wait for each other, a limited
// number of threads could deadlock. A wait ends if the run has failed.

#include "jit/runtime/runtime.h"

namespace Pipe::runtime {

/// Whether this thread runs a task that was forked inside a parallel loop: it has its share of the
/// processors.
bool inside_parallel_loop();

}  // namespace Pipe::runtime
