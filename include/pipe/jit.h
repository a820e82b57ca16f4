#pragma once
// Run-time functions that a program may replace, for one call or for one Pipeline.

#include <cstddef>
#include <cstdint>

#include <pipe/type.h>

namespace Pipe {

struct JITUserContext;

namespace detail {
struct TraceEventCodes {
    enum Code : int32_t {
        Load,
        Store,
        BeginRealization,
        EndRealization,
        Produce,
        EndProduce,
        Consume,
        EndConsume,
        BeginPipeline,
        EndPipeline,
        Tag,
    };
};
}  // namespace detail

/// The kind of a TraceEvent; also usable as an int.
using TraceEventCode = detail::TraceEventCodes::Code;

/// One event of a traced pipeline. Valid only during the call of the handler.
struct TraceEvent {
    const char *func = nullptr;  ///< Func, image or pipeline
    void *value = nullptr;       ///< Load, Store: the value, or one per lane
    /// Load, Store: the coordinates; for vectors, all lanes of dimension 0 first, then those of
    /// dimension 1, and so on. Realizations, Produce, Consume: min and extent of dimension 0, of
    /// dimension 1, and so on.
    int32_t *coordinates = nullptr;
    const char *trace_tag = nullptr;  ///< Tag: the text given to add_trace_tag; else ""
    TypeData type;  ///< Load, Store: type of the value; else a handle with 0 lanes
    TraceEventCode event = TraceEventCode::Load;
    /// The value that the handler returned for the enclosing event: for a Load or Store the Produce
    /// or Consume, for these the BeginRealization, for that the BeginPipeline; for an end event its
    /// begin event.
    int32_t parent_id = 0;
    int32_t value_index = 0;  ///< Load, Store: element of the Tuple
    int32_t dimensions = 0;   ///< number of coordinates
    int32_t lanes = 1;        ///< lanes of the type
};

/// One iteration of a parallel loop, as passed to handlers. Returns 0, or an error code.
using JITTask = int (*)(JITUserContext *, int index, uint8_t *closure);

/// Replacements for functions of the run time; null selects the default. Handlers are called
/// concurrently, from any thread that works on the pipeline. If a handler throws, the call of the
/// pipeline is aborted without leaks, and `realize` rethrows the exception.
struct JITHandlers {
    /// Receives the output of print() and of traces, a line at a time. Default: standard output.
    void (*custom_print)(JITUserContext *, const char *text) = nullptr;
    /// Allocates and frees the pipeline's scratch memory; custom_malloc returns null if there is
    /// not enough. Memory is freed in any order, from any thread. Set both or neither. Default:
    /// memory that each thread keeps from call to call. The cache of memoized Funcs outlives a call
    /// and does not use these functions.
    void *(*custom_malloc)(JITUserContext *, size_t bytes) = nullptr;
    void (*custom_free)(JITUserContext *, void *memory) = nullptr;
    /// Runs one iteration: must call task(context, index, closure) and return its result.
    int (*custom_do_task)(JITUserContext *, JITTask task, int index, uint8_t *closure) = nullptr;
    /// Runs the iterations min .. min + extent - 1, each once, in any order and on any threads.
    /// Must return 0, or the first nonzero result of a task. Default: OpenMP threads.
    int (*custom_do_par_for)(JITUserContext *, JITTask task, int min, int extent,
                             uint8_t *closure) = nullptr;
    /// Receives the message of a RuntimeError. `realize` then returns instead of throwing, and the
    /// contents of the outputs are undefined.
    void (*custom_error)(JITUserContext *, const char *message) = nullptr;
    /// Receives every traced event and returns an id for it, which its child events carry as
    /// parent_id; 0 if not needed. Default: prints a line.
    int32_t (*custom_trace)(JITUserContext *, const TraceEvent *) = nullptr;
};

/// Settings of one call of a pipeline. Handlers receive a pointer to this object itself, so a
/// program may derive from it to pass its own data.
struct JITUserContext {
    JITHandlers handlers;  ///< these take precedence over the Pipeline's
    /// The maximum number of threads of parallel loops; 0: as set_num_threads() says. Each async
    /// Func adds one thread, since it may block. Does not apply to custom_do_par_for.
    int num_threads = 0;

    // For targets with Target::CUDA, and for the functions of Buffers that take a JITUserContext.

    /// The GPU to use: its CUDA device ordinal, from 0; negative: the value of the environment
    /// variable HL_GPU_DEVICE, else 0.
    int gpu_device = -1;
    /// A context of the CUDA driver API to use; null: the device's primary context, which the CUDA runtime API uses, too.
    /// It must outlive all pipelines that ran in it and all Buffers with memory in it.
    void *cuda_context = nullptr;
    /// A CUDA stream of that context, into which all work is enqueued; null: a stream of Pipe's own. With
    /// your stream, `realize` returns without waiting for the device, unless a result is copied to the
    /// host: an output without device memory (Buffer::device_malloc), or values that host code reads.
    void *cuda_stream = nullptr;
};

}  // namespace Pipe
