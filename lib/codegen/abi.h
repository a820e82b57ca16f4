#pragma once
// What a compiled kernel and its caller agree on. Plain data: no LLVM type, no C++ object.
//
//   int32_t kernel(jit::Context *context, void *const *args);
//
// * `args[i]` belongs to Program::args[i]: a buffer is passed as BufferArgument *, a scalar as the
//   address of its value (a bool is one byte).
// * The answer is 0, or the code of the first Assert that failed, or `out_of_memory`. The message
//   stands in the context. A kernel never throws, and calls nothing that does.
// * `context` is opaque to the kernel; it hands it on to the functions below, which the run time
//   (jit/runtime.h) provides:
//
//   int32_t pipe_parallel_for(context, RangeBody *body, int32_t min, int32_t extent, void *closure)
//       Calls body on ranges that together are [min, min + extent), from several threads. A body
//       that fails stops the loop; its code is the answer.
//   void *pipe_scratch_push(context, int64_t bytes)     64-byte aligned, from the thread's arena
//   void pipe_scratch_pop(context, void *block)
//       push gives null where memory is short. What an error return leaves behind, the run time
//       pops.
//   void *pipe_user_context(context)       the JITUserContext of the call
//   int32_t pipe_call_pipeline(context, const detail::ExternPipeline *, const void *const *args)
//       Another pipeline; `args` as the C function of an extern stage gets them, by address. Its
//       answer; handler_failed where it throws: recorded.
//   int32_t pipe_trace(context, const TraceEvent *event)
//       Answers a number for the event.
//   For targets with the feature Profile (entries: one per Func, profile_entry_bytes each):
//   void **pipe_profile_slot(context)      where this thread notes the entry that it works on
//   void *pipe_profile_table(context)      the run's entries
//   void pipe_profile_allocated(entry, int64_t bytes), pipe_profile_freed(entry, int64_t bytes)
//   int32_t pipe_fork(context, RangeBody *first, void *closure, RangeBody *second, void *closure)
//       Runs both at once, each on a thread of its own, and answers the first code that is not 0.
//       The ranges mean nothing.
//   void pipe_semaphore_open(void *semaphore, int64_t count), pipe_semaphore_close(void *semaphore)
//       `semaphore`: semaphore_bytes of memory, aligned to 64.
//   int32_t pipe_semaphore_acquire(context, void *semaphore)
//       Waits until the count is positive, and takes one. Not 0 where the run has failed meanwhile.
//   void pipe_semaphore_release(void *semaphore)
//   void pipe_lock_enter(int32_t *lock), pipe_lock_leave(int32_t *lock)
//       One thread at a time between the two. The word is 0 where none is.
//   void *pipe_memo_open(context, const char *func, const int64_t *key, int64_t keys, int64_t *buffers,
//                        int64_t count, int32_t *missing)
//       Looks in the cache of the process for what was stored with this key; where there is nothing,
//       *missing becomes 1, and the answer is new memory. `buffers` says how many bytes each of them
//       has, and becomes their addresses, 64-byte aligned. Null where memory is short: recorded.
//   void pipe_memo_store(context, void *entry, int32_t has_eviction_key, uint64_t eviction_key)
//       What was missing is complete: it goes into the cache.
//   void pipe_memo_close(context, void *entry)
//       The buffers are not used any more. What an error return leaves open, the run time closes.
//   int32_t pipe_out_of_memory(context, const char *name, int64_t bytes)
//       Records the message; answers `out_of_memory`.
//   void pipe_print(context, const char *text, const int64_t *values)
//       Prints the text, made like pipe_fail's, as a line: custom_print's, else on stdout.
//   int32_t pipe_fail(context, int32_t code, const char *text, const int64_t *values)
//       Records `text`, where each MessageField character stands for the next of `values`; answers
//       `code`.

#include <cstdint>

namespace Pipe::codegen {

inline constexpr int max_dimensions = 8;
inline constexpr int32_t out_of_memory = -1;
inline constexpr int64_t profile_entry_bytes = 128;
inline constexpr int32_t handler_failed = -2;  ///< a user's handler threw or answered an error
/// What an acquire answers after another task has failed.
inline constexpr int32_t canceled = -3;
inline constexpr int32_t device_failed = -4;  ///< a device or its driver failed
inline constexpr int64_t semaphore_bytes = 128;

struct DeviceBuffer;  // codegen/gpu_abi.h

/// A buffer, as the kernel sees it.
struct BufferArgument {
    struct Dimension {
        int64_t min = 0;
        int64_t extent = 1;
        int64_t stride = 0;  ///< in elements
    };
    void *host = nullptr;  ///< address of the element at (min, min, ...)
    Dimension dim[max_dimensions];
    DeviceBuffer *device = nullptr;  ///< null for targets without kernels for a GPU
};

/// In the text given to pipe_fail: a place for a value, and how its 64 bits are to be read.
enum MessageField : char { SignedField = 1, UnsignedField = 2, FloatField = 3, TextField = 4 };

}  // namespace Pipe::codegen

namespace Pipe::jit {
struct Context;
}

namespace Pipe::codegen {
/// The body of a parallel loop, for the iterations begin, begin + 1, ..., end - 1.
using RangeBody = int32_t(jit::Context *context, int32_t begin, int32_t end, void *closure);
/// The kernel itself.
using KernelFunction = int32_t(jit::Context *context, void *const *args);
}  // namespace Pipe::codegen
