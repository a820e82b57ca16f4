#pragma once
// Tasks that run at once and wait for each other: what Fork, Acquire and Release call.
//
// Each fork has a thread of its own for its first task: tasks wait for each other, so that a
// limited number of threads could come to stand still. A wait ends where the run has failed.

#include "jit/runtime.h"

namespace Pipe::jit {

int32_t fork_tasks(Context *context, codegen::RangeBody *first, void *first_closure,
                   codegen::RangeBody *second, void *second_closure);

void semaphore_open(void *memory, int64_t count);
void semaphore_close(void *memory);
int32_t semaphore_acquire(Context *context, void *memory);
void semaphore_release(void *memory);
void lock_enter(int32_t *lock);
void lock_leave(int32_t *lock);

/// Whether this thread runs a task that was forked inside a parallel loop: it has its share of the
/// processors.
bool inside_parallel_loop();

}  // namespace Pipe::jit
