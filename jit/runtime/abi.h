#pragma once
// The interface between a compiled kernel and its caller. Plain data: no LLVM type, no C++ object.
//
//   int32_t kernel(Context *context, void *const *args);
//
// * `args[i]` corresponds to Program::args[i]: a buffer is passed as BufferArgument *, a scalar as
//   the address of its value (a bool is one byte).
// * The result is 0, or the code of the first Assert that failed, or `out_of_memory`. The message is
//   in the context. A kernel never throws, and calls nothing that does.
// * `context` is opaque to the kernel, which passes it to the functions below: those of the run time. They are C symbols
//   and do not throw.

#include <cstdint>

namespace Pipe {
struct TraceEvent;
namespace detail {
struct ExternPipeline;
}
}  // namespace Pipe

namespace Pipe::runtime {

inline constexpr int max_dimensions = 8;
inline constexpr int32_t out_of_memory = -1;
inline constexpr int64_t profile_entry_bytes = 128;
inline constexpr int32_t handler_failed = -2;  ///< a user's handler threw or returned an error
/// Result of an acquire after another task has failed.
inline constexpr int32_t canceled = -3;
inline constexpr int32_t device_failed = -4;  ///< a device or its driver failed
/// A buffer has more elements than kernels reach whose indices have 32 bits (DeviceNarrow in gpu_abi.h).
inline constexpr int32_t indices_too_narrow = -5;
inline constexpr int64_t semaphore_bytes = 128;

struct DeviceBuffer;  // jit/runtime/gpu_abi.h

/// The kernel's view of a buffer.
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

/// In the text passed to pipe_fail: a placeholder for a value, and how to interpret its 64 bits.
enum MessageField : char { SignedField = 1, UnsignedField = 2, FloatField = 3, TextField = 4 };

struct Context;

/// The body of a parallel loop, for the iterations begin, begin + 1, ..., end - 1.
using RangeBody = int32_t(Context *context, int32_t begin, int32_t end, void *closure);
/// The kernel itself.
using KernelFunction = int32_t(Context *context, void *const *args);

extern "C" {

/// Calls body on ranges that together cover [min, min + extent), from several threads. If a body fails, the loop stops
/// and returns its code.
int32_t pipe_parallel_for(Context *context, RangeBody *body, int32_t min, int32_t extent,
                          void *closure);

/// 64-byte aligned, from the thread's arena; null if out of memory. Blocks that remain after an error are freed by the
/// run time.
void *pipe_scratch_push(Context *context, int64_t bytes);
void pipe_scratch_pop(Context *context, void *block);

/// The JITUserContext of the call.
void *pipe_user_context(Context *context);

/// Calls another pipeline with the arguments of the C function of an extern stage, by address. Returns its result;
/// handler_failed if it throws (recorded in the context).
int32_t pipe_call_pipeline(Context *context, const detail::ExternPipeline *pipeline,
                           const void *const *args);

/// Returns the id of the event.
int32_t pipe_trace(Context *context, const TraceEvent *event);

// For targets with the feature Profile (entries: one per Func, profile_entry_bytes each).

/// The address of this thread's pointer to its current entry.
void *pipe_profile_slot(Context *context);
/// The run's entries.
void *pipe_profile_table(Context *context);
void pipe_profile_allocated(void *entry, int64_t bytes);
void pipe_profile_freed(void *entry, int64_t bytes);

/// Runs both concurrently, each on its own thread, and returns the first nonzero code. The ranges are unused.
int32_t pipe_fork(Context *context, RangeBody *first, void *first_closure, RangeBody *second,
                  void *second_closure);

/// A semaphore: semaphore_bytes of memory, aligned to 64.
void pipe_semaphore_open(void *semaphore, int64_t count);
void pipe_semaphore_close(void *semaphore);
/// Waits until the count is positive, and decrements it. Nonzero if the run has failed meanwhile.
int32_t pipe_semaphore_acquire(Context *context, void *semaphore);
void pipe_semaphore_release(void *semaphore);

/// Mutual exclusion. The word is 0 if the lock is free.
void pipe_lock_enter(int32_t *lock);
void pipe_lock_leave(int32_t *lock);

/// Looks up the entry with this key in the cache of the process. If there is none, sets *missing to 1 and returns new
/// memory. On entry, `buffers` contains the sizes in bytes of the buffers; on return, their addresses, 64-byte aligned.
/// Null if out of memory (recorded in the context).
void *pipe_memo_open(Context *context, const char *func, const int64_t *key, int64_t keys,
                     int64_t *buffers, int64_t count, int32_t *missing);
/// Adds a new entry to the cache, after its values have been computed.
void pipe_memo_store(Context *context, void *entry, int32_t has_eviction_key,
                     uint64_t eviction_key);
/// Ends the use of the entry. Entries that remain open after an error are closed by the run time.
void pipe_memo_close(Context *context, void *entry);

/// Records the message; returns `out_of_memory`.
int32_t pipe_out_of_memory(Context *context, const char *name, int64_t bytes);
/// Prints the text, in the format of pipe_fail, as a line: with custom_print, or on stdout.
void pipe_print(Context *context, const char *text, const int64_t *values);
/// Records `text`, where each MessageField character stands for the next of `values`; returns `code`.
int32_t pipe_fail(Context *context, int32_t code, const char *text, const int64_t *values);

}  // extern "C"

}  // namespace Pipe::runtime
