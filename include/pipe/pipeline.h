#pragma once
// Pipeline: compiles Funcs and runs them.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <pipe/autoschedule.h>
#include <pipe/buffer.h>
#include <pipe/callable.h>
#include <pipe/extern.h>
#include <pipe/func.h>
#include <pipe/jit.h>
#include <pipe/print.h>
#include <pipe/realization.h>
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
    std::string schedule_source;  ///< as Pipeline::schedule_source()
};

/// One or several output Funcs with all that they need, compiled together. Copies are the same
/// Pipeline. Compiled at the first use; compiled anew where a definition or schedule changed since.
/// `realize` may be called from several threads at once.
class Pipeline {
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

    /// Computes the outputs in new Buffers of these sizes, with mins 0. Where updates or tail
    /// strategies write more than that, all of it is computed, and the Buffers are the part that
    /// was asked for (with the strides of the whole). The context, which may be null, says what
    /// holds for this call alone.
    Realization realize(const Sizes &sizes = {}, const Target &target = Target());
    Realization realize(JITUserContext *context, const Sizes &sizes = {},
                        const Target &target = Target());
    /// Computes the elements of the Buffers given, one per value of each output. RuntimeError where
    /// a Buffer is undefined, has another type or number of dimensions, does not hold all that is
    /// written, or an input does not cover what is read.
    void realize(const Realization &outputs, const Target &target = Target());
    void realize(JITUserContext *context, const Realization &outputs,
                 const Target &target = Target());
    template <typename T, int D>
    void realize(const Buffer<T, D> &output, const Target &target = Target()) {
        realize_into(nullptr, output, target);
    }
    template <typename T, int D>
    void realize(JITUserContext *context, const Buffer<T, D> &output,
                 const Target &target = Target()) {
        realize_into(context, output, target);
    }
    /// The same as plain data (pipe/raw_buffer.h). (A template, so that `{}` is not taken for it.)
    template <std::same_as<RawBuffer> Raw>
    void realize(Raw *output, const Target &target = Target()) {
        realize_into(nullptr, raw_output(output), target);
    }
    template <std::same_as<RawBuffer> Raw>
    void realize(JITUserContext *context, Raw *output, const Target &target = Target()) {
        realize_into(context, raw_output(output), target);
    }
    template <typename... Buffers>
    requires(sizeof...(Buffers) >= 2 && (std::convertible_to<Buffers, Buffer<void>> &&
                                         ...)) void realize(const Buffers &...outputs) {
        realize(Realization(outputs...));
    }

    /// Gives every ImageParam that is not set a new Buffer of what is read of it for outputs of
    /// these sizes, or for these outputs (their shapes: they need no memory).
    void infer_input_bounds(const Sizes &sizes, const Target &target = Target());
    void infer_input_bounds(const Realization &outputs, const Target &target = Target());
    template <typename T, int D>
    void infer_input_bounds(const Buffer<T, D> &output, const Target &target = Target()) {
        infer_input_bounds(Realization(output), target);
    }
    template <std::same_as<RawBuffer> Raw>
    void infer_input_bounds(const Raw *output, const Target &target = Target()) {
        infer_input_bounds(raw_output(output), target);
    }
    void infer_input_bounds(JITUserContext *, const Sizes &sizes, const Target &target = Target()) {
        infer_input_bounds(sizes, target);
    }
    void infer_input_bounds(JITUserContext *, const Realization &outputs,
                            const Target &target = Target()) {
        infer_input_bounds(outputs, target);
    }
    template <typename T, int D>
    void infer_input_bounds(JITUserContext *, const Buffer<T, D> &output,
                            const Target &target = Target()) {
        infer_input_bounds(Realization(output), target);
    }
    template <std::same_as<RawBuffer> Raw>
    void infer_input_bounds(JITUserContext *, const Raw *output, const Target &target = Target()) {
        infer_input_bounds(raw_output(output), target);
    }

    /// The same by the definitions alone: no schedule, slow, the oracle of the tests.
    Realization realize_reference(const Sizes &sizes);
    void realize_reference(const Realization &outputs);
    template <typename T, int D> void realize_reference(const Buffer<T, D> &output) {
        realize_reference(Realization(output));
    }

    /// Compiles now what the next `realize` would.
    void compile_jit(const Target &target = Target());
    /// Throws away what was compiled. Never needed: changes are noticed.
    void invalidate_cache();
    /// The same, with the autoscheduler told these sizes of the outputs.
    void compile_jit(const Sizes &sizes, const Target &target = Target());

    /// A function of these Params and ImageParams and of the outputs. CompileError where one that
    /// the pipeline uses is missing.
    Callable compile_to_callable(const std::vector<Argument> &args,
                                 const Target &target = Target());
    /// The Params and ImageParams that the pipeline uses.
    std::vector<Argument> infer_arguments() const;

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

    // Files. `args` as for compile_to_callable. RuntimeError where a file cannot be written.
    /// The loops that are compiled, as text or as a page. Images used as constants are named only.
    void compile_to_lowered_stmt(const std::string &filename, const std::vector<Argument> &args,
                                 StmtOutputFormat format = Text, const Target &target = Target());
    /// The same: Halide's word for loops before what its back ends make of them.
    void compile_to_conceptual_stmt(const std::string &filename, const std::vector<Argument> &args,
                                    StmtOutputFormat format = Text,
                                    const Target &target = Target()) {
        compile_to_lowered_stmt(filename, args, format, target);
    }
    /// The optimised LLVM IR, as text and as bitcode; `function`: its name there, by default that
    /// of the first output.
    void compile_to_llvm_assembly(const std::string &filename, const std::vector<Argument> &args,
                                  const std::string &function = "",
                                  const Target &target = Target());
    void compile_to_bitcode(const std::string &filename, const std::vector<Argument> &args,
                            const std::string &function = "", const Target &target = Target());
    void compile_to_assembly(const std::string &filename, const std::vector<Argument> &args,
                             const std::string &function = "", const Target &target = Target());
    /// An object file (ELF). Its function is called as Pipe's run time calls it.
    void compile_to_object(const std::string &filename, const std::vector<Argument> &args,
                           const std::string &function = "", const Target &target = Target());

    /// What takes the place of the run time's own functions in all calls of this Pipeline. Not to
    /// be changed while one runs. A Callable keeps what stood here when it was made.
    JITHandlers &jit_handlers();

    /// Makes C functions known by these names, for expressions and extern stages, from the next
    /// compilation on. One in place of another that is known by the name is for this Pipeline alone.
    /// CompileError where the types of the two differ.
    void set_jit_externs(const std::map<std::string, JITExtern> &externs);
    /// Those given to this Pipeline.
    const std::map<std::string, JITExtern> &get_jit_externs() const;

    /// Of the code made last.
    CompileTimes compile_times() const;
    /// The most bytes of scratch memory that all threads together held at a time during the last
    /// `realize`; inputs, outputs and the threads' stacks not counted.
    int64_t peak_scratch_bytes() const;
    /// The loops, on stdout, or as text.
    void print_loop_nest();
    std::string loop_nest();
    /// The schedule as C++ that can be pasted after the definitions.
    std::string schedule_source();
    /// What the autoscheduler chose: groups, tiles, cost terms. "" without autoscheduler.
    std::string schedule_report();

  private:
    /// Undefined where it is null.
    static Buffer<void> raw_output(const RawBuffer *output) {
        return output ? Buffer<void>(*output) : Buffer<void>();
    }
    void realize_into(JITUserContext *context, const BufferBase &output, const Target &target);

    std::vector<Func> outputs_;
    std::shared_ptr<driver::Compiler> compiler_;
};

}  // namespace Pipe
