#pragma once
// What a user may put in place of the run time's own functions, for one call or one Pipeline.

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

/// What happened, in a TraceEvent; also as an int.
using TraceEventCode = detail::TraceEventCodes::Code;

/// One event of a traced pipeline. Valid during the call of the handler only.
struct TraceEvent {
    const char *func = nullptr;  ///< Func, image or pipeline
    void *value = nullptr;       ///< Load, Store: the value, or one per lane
    /// Load, Store: where; of vectors, all lanes of dimension 0 first, then those of dimension 1,
    /// .. Realizations, Produce, Consume: min and extent of dimension 0, of dimension 1, ..
    int32_t *coordinates = nullptr;
    const char *trace_tag = nullptr;  ///< Tag: the text given to add_trace_tag; else ""
    TypeData type;                    ///< Load, Store: of the value; else a handle of no lanes
    TraceEventCode event = TraceEventCode::Load;
    /// What the handler answered to the event that this one lies in: of a Load or Store the Produce
    /// or Consume, of those the BeginRealization, of that the BeginPipeline; of an end its begin.
    int32_t parent_id = 0;
    int32_t value_index = 0;  ///< Load, Store: element of the Tuple
    int32_t dimensions = 0;   ///< number of coordinates
    int32_t lanes = 1;        ///< as those of the type
};

/// One iteration of a parallel loop, as handlers get to see it. Answers 0, or the code of a
/// failure.
using JITTask = int (*)(JITUserContext *, int index, uint8_t *closure);

/// Functions that take the place of the run time's own; null: the run time's. They are called from
/// any thread that works on the pipeline, from several at a time. One that throws ends the call of
/// the pipeline: `realize` throws the same again, and nothing leaks.
struct JITHandlers {
    /// Text of print() and of traces, a line at a time. Default: standard output.
    void (*custom_print)(JITUserContext *, const char *text) = nullptr;
    /// Memory of the pipeline's own; null where there is none. Freed in any order, from any thread.
    /// Both or none are to be given. Default: memory that the threads keep from call to call. (What
    /// memoized Funcs keep outlives the call: the cache has its own memory, never these
    /// functions'.)
    void *(*custom_malloc)(JITUserContext *, size_t bytes) = nullptr;
    void (*custom_free)(JITUserContext *, void *memory) = nullptr;
    /// Runs one iteration: has to call task(context, index, closure) and answer what that answers.
    int (*custom_do_task)(JITUserContext *, JITTask task, int index, uint8_t *closure) = nullptr;
    /// Runs the iterations min, .. min + extent - 1, each once, in any order, on any threads; to
    /// answer 0, or the first other answer of a task. Default: OpenMP's threads.
    int (*custom_do_par_for)(JITUserContext *, JITTask task, int min, int extent,
                             uint8_t *closure) = nullptr;
    /// Is told of a RuntimeError. `realize` then returns instead of throwing, and the elements of
    /// the outputs are undefined.
    void (*custom_error)(JITUserContext *, const char *message) = nullptr;
    /// Gets every event of what is traced, and answers a number for it, 0 if it does not care.
    /// Default: prints a line.
    int32_t (*custom_trace)(JITUserContext *, const TraceEvent *) = nullptr;
};

/// What one call of a pipeline is told. Handlers get the very object, so that a user may derive
/// from it and find his own data there.
struct JITUserContext {
    JITHandlers handlers;  ///< those that are set go before the Pipeline's
    /// The most threads of its parallel loops; 0: as set_num_threads says. Each async Func adds one,
    /// since it may have to wait. Does not bind a custom_do_par_for.
    int num_threads = 0;

    // For targets with Target::CUDA, and for the functions of Buffers that take a JITUserContext.

    /// The GPU to use: its number as nvidia-smi and CUDA count, from 0; negative: what the environment
    /// variable HL_GPU_DEVICE says, else 0.
    int gpu_device = -1;
    /// A context of the CUDA driver API to work in; null: the primary context of the device, which is also that of the CUDA
    /// run time API. It has to live as long as pipelines that ran in it and Buffers with memory in it do.
    void *cuda_context = nullptr;
    /// A CUDA stream of that context to put all work into; null: one of Pipe's own. With a stream, `realize` does not wait
    /// at its end for what the device has to do. It does wait where a result goes to the host: where an output has
    /// no device memory of its own (Buffer::device_malloc), or code of the host reads what a kernel computed.
    void *cuda_stream = nullptr;
};

}  // namespace Pipe
