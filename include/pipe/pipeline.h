#pragma once
// Pipeline: compiles Funcs and runs them.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pipe/autoschedule.h>
#include <pipe/buffer.h>
#include <pipe/callable.h>
#include <pipe/extern.h>
#include <pipe/func.h>
#include <pipe/jit.h>
#include <pipe/print.h>
#include <pipe/realizable.h>
#include <pipe/target.h>
#include <pipe/tune.h>

namespace Pipe {

namespace driver {
struct Compiler;
}

/// Compile times in milliseconds, zero for phases that were skipped. The sum over all kernels that have been compiled
/// for the present schedule: a small image, or Buffers of another layout, may need one of their own.
struct CompileTimes {
    double schedule_ms = 0;  ///< autoscheduler
    double lower_ms = 0;     ///< front end: checks, bounds inference and lowering passes
    double llvm_ms = 0;      ///< LLVM IR generation, optimization, machine code and linking
    /// The part of lower_ms taken by each lowering pass, in order.
    std::vector<std::pair<std::string, double>> pass_ms;
};

/// Selects an autoscheduler, as in Halide. Pipe has only its own, which is used whatever the name.
/// Of the parameters, "parallelism" is the number of cores to schedule for; the others are ignored.
struct AutoschedulerParams {
    std::string name;
    std::map<std::string, std::string> extra;

    AutoschedulerParams() = default;
    AutoschedulerParams(const std::string &n) : name(n) {}
    AutoschedulerParams(const char *n) : name(n) {}
    AutoschedulerParams(const std::string &n, const std::map<std::string, std::string> &e)
        : name(n), extra(e) {}
    std::string to_string() const;
};

struct AutoSchedulerResults {
    std::string autoscheduler_name;
    AutoschedulerParams autoscheduler_params;
    Target target;
    std::string schedule_source;         ///< as Pipeline::schedule_source()
    std::vector<uint8_t> featurization;  ///< always empty; for compatibility with Halide
};

/// One or several output Funcs, compiled together with everything that they call. Copies refer to
/// the same Pipeline. It is compiled on first use, and again after a definition or schedule has
/// changed. `realize` may be called from several threads at once.
class Pipeline : public Realizable<Pipeline> {
  public:
    Pipeline() = default;
    Pipeline(const Func &output);
    Pipeline(const std::vector<Func> &outputs);

    bool defined() const { return compiler_ != nullptr; }
    const std::vector<Func> &outputs() const { return outputs_; }
    /// The i-th Func that the outputs depend on, producers before consumers. CompileError if `i` is
    /// out of range.
    Func get_func(size_t i) const;

    /// Adds a precondition, which `realize` checks before it computes anything: if `condition` (a
    /// bool of Params and sizes of images) is false, it throws a RuntimeError with `message`
    /// (numbers and strings). Preconditions are checked in the order in which they were added.
    /// CompileError if `condition` contains Vars or Funcs.
    void add_requirement(const Expr &condition, const std::vector<Expr> &message = {});
    template <typename First, typename... More>
    requires(!std::is_same_v<First, std::vector<Expr>>) void add_requirement(
        const Expr &condition, const First &first, const More &...message) {
        add_requirement(condition,
                        std::vector<Expr>{detail::printable(first), detail::printable(message)...});
    }

    /// Lets Pipe choose the schedule when the pipeline is next compiled, for `target` (which becomes
    /// the default target) and the sizes given by `set_estimates`, else those of the next `realize`.
    /// Your own directives are kept. The compiled code is correct for every size.
    Pipeline &autoschedule(const Target &target, const AutoscheduleOptions &options = {});

    /// Chooses the schedule now, for the sizes given by `set_estimates`. CompileError if
    /// "parallelism" is not a positive number.
    AutoSchedulerResults apply_autoscheduler(const Target &target,
                                             const AutoschedulerParams &params = {});

    /// Measures several schedules on these Buffers (one per value of each output), applies the fastest
    /// to the Funcs, as if it had been written by hand, and computes the outputs with it. The
    /// candidates are the directives given so far, if there are any, the schedules that the cost model
    /// finds best, and those of the published strategies (AutoscheduleOptions::Strategy). All are compiled and run, then timed in turn; slow ones are dropped early. The
    /// results of all are compared with those of the first. Inputs and Params must be set.
    ///
    /// With TuneOptions::file, the result is kept, and the next call takes up an unfinished search:
    ///
    ///     pipeline.tune(out, {.seconds = 30, .file = "blur.json"});  // once
    ///     pipeline.apply_schedule("blur.json");                      // from then on
    ///
    /// CompileError for a target with a GPU, and for a file of another algorithm. RuntimeError for
    /// Buffers as `realize` would reject, outputs that share memory with inputs, if no candidate runs,
    /// and if the file cannot be written. The schedule of the Funcs is unchanged then.
    TuneResult tune(const Realization &outputs, const TuneOptions &options = {});

    /// Writes the schedule to a file (JSON): that of the directives, or the one that autoschedule()
    /// chose for the last `realize`, or for the sizes given by `set_estimates`. CompileError if it
    /// refers to a Param or ImageParam without a name. RuntimeError if the file cannot be written.
    void save_schedule(const std::string &file);
    /// Replaces the schedule of all Funcs by that of a file, as if it had been written by hand, also
    /// after autoschedule(). Bounds, estimates, traces and memoize() stay. Funcs that in(), clone_in() and
    /// rfactor() have added are no longer used, unless the file has them, too. Sets the default target to
    /// that of the file. CompileError, and no change, if the file is for another algorithm (names the
    /// Funcs that differ) or another version, is not complete, or is for a target that this machine
    /// does not have. RuntimeError if it cannot be read.
    Pipeline &apply_schedule(const std::string &file);

    /// Discards the compiled code. Never necessary: changes are detected.
    void invalidate_cache();

    /// Traces the begin and end of every run (TraceEventCode::BeginPipeline, EndPipeline).
    Pipeline &trace_pipeline();

    /// What the profiler measured in all runs since the last profiler_reset(), for targets with the
    /// feature Profile: for each Func its time and share of the total, the mean number of threads
    /// while it ran, its peak memory, and the number of allocations. Each such run also prints its
    /// own table at the end (through JITHandlers::custom_print, by default to standard output).
    std::string profiler_report() const;
    /// The same as a self-contained HTML page.
    std::string profiler_html() const;
    void profiler_reset();

    /// Defines C functions by name, for expressions and extern stages, from the next compilation
    /// on. A definition that replaces another one of the same name applies to this Pipeline only.
    /// CompileError if the types of the two differ.
    void set_jit_externs(const std::map<std::string, JITExtern> &externs);
    /// The definitions given to this Pipeline.
    const std::map<std::string, JITExtern> &get_jit_externs() const;

    /// The times of the most recent compilation.
    CompileTimes compile_times() const;
    /// Bytes of scratch memory used by the last `realize`: the sum of the peaks of all threads, an
    /// upper bound of the peak of the process. Inputs, outputs and stacks are not counted.
    int64_t peak_scratch_bytes() const;
    /// The text that print_loop_nest() prints.
    std::string loop_nest();
    /// The schedule as C++ code to be pasted after the definitions. It refers to each Func by a
    /// variable of the Func's name. A Func without a name, or whose name is not unique, is written
    /// as `pipeline.get_func(i)`, where `pipeline` is a variable of this Pipeline.
    std::string schedule_source();
    /// The decisions of the autoscheduler: groups, tiles, cost terms; and, where the sizes are known,
    /// the times that predict() gives for the result. "" if it was not used.
    std::string schedule_report();
    /// Writes the schedule, of the autoscheduler or by hand, as a page for a browser: the graph of
    /// stages with fused ones in one color, tiles and their overlap to scale, buffers beside the
    /// caches, the times per Func that the profiler measured (after runs for a target with
    /// Target::Profile), other schedules that were considered, and the loop nest. It is
    /// self-contained: one file, no network. RuntimeError if it cannot be written.
    ///
    ///     pipeline.autoschedule(target).realize(out);
    ///     pipeline.report("blur.html");
    void report(const std::string &file);

    const std::shared_ptr<driver::Compiler> &compiler() const { return compiler_; }
    Pipeline(const std::vector<Func> &outputs, std::shared_ptr<driver::Compiler> compiler);

  private:
    std::vector<Func> outputs_;
    std::shared_ptr<driver::Compiler> compiler_;
};

}  // namespace Pipe
