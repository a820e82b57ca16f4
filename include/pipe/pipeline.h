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

namespace Pipe {

namespace driver {
struct Compiler;
}

/// How long making the code took, in milliseconds. Zero for what was not done.
struct CompileTimes {
    double schedule_ms = 0;  ///< autoscheduler
    double lower_ms = 0;     ///< freezing, checking and lowering
    double llvm_ms = 0;      ///< LLVM
    /// What of lower_ms each pass of lowering took, in their order.
    std::vector<std::pair<std::string, double>> pass_ms;
};

/// Halide's way to name an autoscheduler. Pipe has its own, which is taken whatever the name;
/// of the parameters, "parallelism" is the number of cores to schedule for, and the others, which
/// belong to those autoschedulers alone, are not needed.
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
    std::vector<uint8_t> featurization;  ///< always empty: what some of Halide's tell of their work
};

/// One or several output Funcs with all that they need, compiled together. Copies are the same
/// Pipeline. Compiled at the first use; compiled anew where a definition or schedule changed since.
/// `realize` may be called from several threads at once.
class Pipeline : public Realizable<Pipeline> {
  public:
    Pipeline() = default;
    Pipeline(const Func &output);
    Pipeline(const std::vector<Func> &outputs);

    bool defined() const { return compiler_ != nullptr; }
    const std::vector<Func> &outputs() const { return outputs_; }
    /// The i-th Func of all that the outputs need, producers before consumers. CompileError where
    /// there are not so many.
    Func get_func(size_t i) const;

    /// Before anything is computed, `condition` (a bool of Params and sizes of images) is tested:
    /// where it does not hold, `realize` throws a RuntimeError with the message, which is made of
    /// numbers and strings. In the order in which they were added. CompileError for conditions on
    /// Vars or Funcs.
    void add_requirement(const Expr &condition, const std::vector<Expr> &message = {});
    template <typename First, typename... More>
    requires(!std::is_same_v<First, std::vector<Expr>>) void add_requirement(
        const Expr &condition, const First &first, const More &...message) {
        add_requirement(condition,
                        std::vector<Expr>{detail::printable(first), detail::printable(message)...});
    }

    /// Lets Pipe choose the schedule, for `target` and for the sizes given by `set_estimates`, else
    /// those of the first `realize` after this. What the user scheduled by hand stays. The code
    /// made is right for every size.
    Pipeline &autoschedule(const Target &target, const AutoscheduleOptions &options = {});

    /// The same at once, for the sizes given by `set_estimates`. CompileError where "parallelism"
    /// is no positive number.
    AutoSchedulerResults apply_autoscheduler(const Target &target,
                                             const AutoschedulerParams &params = {});

    /// Throws away what was compiled. Never needed: changes are noticed.
    void invalidate_cache();

    /// Tells of begin and end of every run (TraceEventCode::BeginPipeline, EndPipeline).
    Pipeline &trace_pipeline();

    /// What the profiler found in all runs since the last profiler_reset() for a target with the
    /// feature Profile: per Func the time, its share, the mean number of threads while it ran, the
    /// peak of its memory, the number of allocations. Such a run also prints its own table at its
    /// end (JITHandlers::custom_print, else standard output).
    std::string profiler_report() const;
    /// The same as one HTML page that needs nothing else.
    std::string profiler_html() const;
    void profiler_reset();

    /// Makes C functions known by these names, for expressions and extern stages, from the next
    /// compilation on. One in place of another that is known by the name is for this Pipeline alone.
    /// CompileError where the types of the two differ.
    void set_jit_externs(const std::map<std::string, JITExtern> &externs);
    /// Those given to this Pipeline.
    const std::map<std::string, JITExtern> &get_jit_externs() const;

    /// Of the code made last.
    CompileTimes compile_times() const;
    /// Bytes of scratch memory of the last `realize`: the most that each thread held, added up, so
    /// never less than was held at a time. Inputs, outputs and the threads' stacks are not counted.
    int64_t peak_scratch_bytes() const;
    /// What print_loop_nest() prints.
    std::string loop_nest();
    /// The schedule as C++ that can be pasted after the definitions. It expects a variable for each
    /// Func with the name of that Func. A Func without a name, or whose name another Func has too, is
    /// `pipeline.get_func(i)`, which expects the Pipeline in a variable `pipeline`.
    std::string schedule_source();
    /// What the autoscheduler chose: groups, tiles, cost terms. "" without autoscheduler.
    std::string schedule_report();

    const std::shared_ptr<driver::Compiler> &compiler() const { return compiler_; }
    Pipeline(const std::vector<Func> &outputs, std::shared_ptr<driver::Compiler> compiler);

  private:
    std::vector<Func> outputs_;
    std::shared_ptr<driver::Compiler> compiler_;
};

}  // namespace Pipe
