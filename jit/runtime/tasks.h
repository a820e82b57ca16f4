#pragma once
// Concurrent tasks that wait for each other: the implementation of Fork, Acquire and Release.
//
// Each fork has its own thread for its first task: because tasks wait for each other, a limited
// number of threads could deadlock. A wait ends if the run has failed.

#include "jit/runtime/runtime.h"

namespace Pipe::runtime {

int32_t fork_tasks(Context *context, RangeBody *first, void *first_closure, RangeBody *second,
                   void *second_closure);

void semaphore_open(void *memory, int64_t count);
void semaphore_close(void *memory);
int32_t semaphore_acquire(Context *context, void *memory);
void semaphore_release(void *memory);
void lock_enter(int32_t *lock);
void lock_leave(int32_t *lock);

/// Whether this thread runs a task that was forked inside a parallel loop: it has its share of the
/// processors.
bool inside_parallel_loop();

}  // namespace Pipe::runtime
