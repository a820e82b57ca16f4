#pragma once
// A compiled pipeline: frozen graph, final schedule, kernels.

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "driver/arguments.h"
#include "driver/scheduled.h"
#include "jit/kernel.h"
#include "jit/runtime/profiler.h"
#include "predict/predict.h"
#include <pipe/autoschedule.h>
#include <pipe/jit.h>
#include <pipe/pipeline.h>

namespace Pipe::driver {

/// The parameters of a call besides its arguments.
struct CallSettings {
    JITUserContext *context = nullptr;  ///< may be null
    const JITHandlers &handlers;        ///< those of the context take precedence
    runtime::Profile &profile;          ///< accumulates measurements
    /// Receives larger outputs if the given ones are smaller than what the schedule writes; null:
    /// that is an error.
    std::vector<Buffer<void>> *grown = nullptr;
};

/// Whether a Buffer has no memory, which makes the call a bounds query.
bool is_query(const std::vector<ArgumentValue> &given);

class Compiled;
/// The autoscheduler's report, and the predicted times for the sizes for which it scheduled.
std::string report_text(Compiled &compiled, const Settings &settings);

/// The kernels of one schedule. There is one per combination of layouts (dense, interleaved or other
/// Buffers) and of outputs that share memory with inputs; and for each of them another one that is
/// correct for every size: the usual kernel computes a little more than requested where that is
/// faster, and reports if an image is too small for that.
class Compiled {
  public:
    Compiled(const std::vector<Func> &outputs, const Settings &settings, const Target &requested,
             const Outputs *buffers);

    /// Whether it matches `requested` and nothing has changed since. Cheap.
    bool up_to_date(const Target &requested) const;

    /// Runs on call.given; compiles first if necessary. Thread-safe. RuntimeError on failure; if
    /// there is a custom_error handler, it is called instead, and the error code is returned.
    int run(CallArguments &call, const CallSettings &settings);
    int run(Outputs outputs, const CallSettings &settings);
    /// Compiles the usual kernel, and the one for pairs declared with may_alias().
    void compile();
    /// The program of the usual kernel.
    ir::Program program();
    const Target &target() const { return target_; }
    /// The name of the first output.
    const std::string &name() const;

    /// Reports a misuse of the call.
    int fail(const std::string &why, const CallSettings &settings);
    /// Sets the shapes of Buffers without memory (see is_query). Fails as `run` does.
    int answer_query(const std::vector<ArgumentValue> &given, const CallSettings &settings);
    /// Allocates Buffers for the ImageParams that are not set. Fails as `run` does.
    int infer_inputs(Outputs outputs, const CallSettings &settings);
    /// The predicted time of `run` on these outputs, which need no memory. `options`: caches; cores, 0:
    /// the threads of `run`.
    Prediction predict(Outputs outputs, AutoscheduleOptions options);
    /// The predicted times for the sizes for which the autoscheduler scheduled; nothing if it did not, did
    /// not know them, or for a GPU. RuntimeError if a Param has no value.
    std::optional<Prediction> predict_as_scheduled(const AutoscheduleOptions &options);
    const Slots &slots() const { return slots_; }
    /// Outputs that the user declared (may_alias) to share memory with inputs.
    const std::vector<InPlace> &declared_in_place() const { return declared_in_place_; }
    Scheduled scheduled() const;
    CompileTimes times() const;
    int64_t peak_scratch_bytes() const { return peak_scratch_.load(std::memory_order_relaxed); }

  private:
    /// A list that only grows at its head, so that it can be searched without a lock.
    struct CachedKernel {
        Variant variant;
        jit::Kernel kernel;
        std::unique_ptr<const CachedKernel> next;
    };

    Target requested_, target_;
    const uint64_t memo_owner_;  ///< unique
    bool trace_pipeline_;
    mutable std::atomic<uint64_t> epoch_;
    Scheduled scheduled_;
    Slots slots_;
    std::vector<InPlace> declared_in_place_;
    mutable std::mutex mutex_;
    std::unique_ptr<const CachedKernel> made_;
    std::atomic<const CachedKernel *> newest_{nullptr};
    CompileTimes times_;
    jit::Kernel query_;  ///< lower/bounds_query.h
    std::atomic<int64_t> peak_scratch_{0};

    const jit::Kernel *find(const Variant &variant) const;
    const jit::Kernel &kernel(const Variant &variant);
    jit::Kernel compile_kernel(const Variant &variant);
    /// CompileError if a declared pair would give wrong values.
    void check_declared();
    /// RuntimeError if a pair of the call would give wrong values.
    void check_in_place(const CallArguments &call);
    std::string in_place_obstacle(const ir::InPlace &pair) const;
    const jit::Kernel &query_kernel();
    ir::Program lower(const Variant &variant);
    ir::Program lower_or_fall_back(const Variant &variant);
    ir::Program try_to_lower(const Variant &variant);
    /// The shapes of all arguments; those without memory get the region that is read or written:
    /// exactly, or as the user promised.
    std::vector<std::vector<BufferDim>> infer_bounds(const std::vector<ArgumentValue> &given,
                                                     bool as_promised,
                                                     const runtime::RunOptions &options);
    void give_shapes(const std::vector<ArgumentValue> &given, const runtime::RunOptions &options);
    void make_inputs(Outputs outputs, const runtime::RunOptions &options);
    /// The shapes of all arguments; inputs that are not set cover what is read.
    std::vector<std::vector<BufferDim>> shapes_of(const std::vector<ArgumentValue> &given);
    /// Replaces the outputs by larger ones; returns false if that would not help.
    bool grow_outputs(std::vector<ArgumentValue> &given, const runtime::RunOptions &options,
                      std::vector<Buffer<void>> &grown);
    int run_kernels(CallArguments &call, const runtime::RunOptions &options,
                    std::vector<Buffer<void>> *grown, std::string *error);
    int run_kernel(const jit::Kernel &kernel, const CallArguments &call,
                   const runtime::RunOptions &options, std::string *error);
};

}  // namespace Pipe::driver
