#pragma once
// Realizable: compiling and running, common to Func and Pipeline.

#include <concepts>
#include <vector>

#include <pipe/buffer.h>
#include <pipe/compiled_files.h>
#include <pipe/predict.h>
#include <pipe/realization.h>
#include <pipe/target.h>

namespace Pipe {

class Callable;
struct Argument;
struct JITHandlers;
struct JITUserContext;

/// Compiling and running a Pipeline, or a Func as a Pipeline with one output. Compiled code is kept
/// until a definition or schedule changes. A JITUserContext (pipe/jit.h), which may be null,
/// applies to one call. The default target is that of the existing code, else that of
/// autoschedule(), else get_host_target().
///
/// \param Self  Pipeline or Func
template <typename Self> class Realizable : public CompiledFiles<Self> {
  public:
    /// Computes the outputs into new Buffers with these extents and mins 0. If updates or tail
    /// strategies write beyond them, the Buffers are crops of larger ones. RuntimeError if the number
    /// of sizes is not that of the dimensions, a size is negative, or as for given Buffers below.
    Realization realize(const Sizes &sizes = {}, const Target &target = Target()) {
        return realize(nullptr, sizes, target);
    }
    Realization realize(JITUserContext *context, const Sizes &sizes = {},
                        const Target &target = Target());
    /// Computes all elements of the given Buffers, one Buffer per value of each output.
    /// RuntimeError if a Buffer is undefined, has the wrong type or number of dimensions or is
    /// smaller than the region written, or if an input is smaller than the region read.
    void realize(const Realization &outputs, const Target &target = Target()) {
        realize(nullptr, outputs, target);
    }
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
    template <typename... Buffers>
    requires(sizeof...(Buffers) >= 2 && (std::convertible_to<Buffers, Buffer<void>> &&
                                         ...)) void realize(const Buffers &...outputs) {
        realize(nullptr, Realization(outputs...));
    }
    /// The same with plain data (pipe/raw_buffer.h). A template, so that `{}` does not match it.
    template <std::same_as<RawBuffer> Raw>
    void realize(Raw *output, const Target &target = Target()) {
        realize_into(nullptr, buffer_of(output), target);
    }
    template <std::same_as<RawBuffer> Raw>
    void realize(JITUserContext *context, Raw *output, const Target &target = Target()) {
        realize_into(context, buffer_of(output), target);
    }

    /// Evaluates the definitions with the reference interpreter, which ignores the schedule and
    /// generates no code: to check compiled results against. Very slow. Throws what realize() throws.
    Realization realize_reference(const Sizes &sizes);
    void realize_reference(const Realization &outputs);

    /// Gives every ImageParam that is not set a new Buffer, which covers the region read for
    /// outputs of these sizes, or for these outputs (only their shapes matter). RuntimeError if an
    /// output has the wrong number of dimensions, or an extern stage fails.
    void infer_input_bounds(const Sizes &sizes, const Target &target = Target()) {
        infer_input_bounds(nullptr, sizes, target);
    }
    void infer_input_bounds(JITUserContext *context, const Sizes &sizes,
                            const Target &target = Target());
    void infer_input_bounds(const Realization &outputs, const Target &target = Target()) {
        infer_input_bounds(nullptr, outputs, target);
    }
    void infer_input_bounds(JITUserContext *context, const Realization &outputs,
                            const Target &target = Target());
    template <std::same_as<RawBuffer> Raw>
    void infer_input_bounds(const Raw *output, const Target &target = Target()) {
        infer_input_bounds(nullptr, Realization(buffer_of(output)), target);
    }
    template <std::same_as<RawBuffer> Raw>
    void infer_input_bounds(JITUserContext *context, const Raw *output,
                            const Target &target = Target()) {
        infer_input_bounds(context, Realization(buffer_of(output)), target);
    }
    template <typename T, int D>
    void infer_input_bounds(const Buffer<T, D> &output, const Target &target = Target()) {
        infer_input_bounds(nullptr, Realization(output), target);
    }
    template <typename T, int D>
    void infer_input_bounds(JITUserContext *context, const Buffer<T, D> &output,
                            const Target &target = Target()) {
        infer_input_bounds(context, Realization(output), target);
    }

    /// Predicts how long `realize` would take for these sizes with the present schedule, on as many threads
    /// as it would use, without running it or compiling it to machine code (pipe/predict.h). The times are
    /// those of a model: good for comparing schedules of one pipeline. Inputs that are not set are assumed
    /// to cover just the region read. CompileError for targets with a GPU; RuntimeError for sizes that
    /// `realize` would reject, and for Params without a value.
    Prediction predict(const Sizes &sizes = {}, const Target &target = Target());
    /// The same for these outputs, of which only the shapes matter.
    Prediction predict(const Realization &outputs, const Target &target = Target());
    template <typename T, int D>
    Prediction predict(const Buffer<T, D> &output, const Target &target = Target()) {
        return predict(Realization(output), target);
    }

    /// Compiles now instead of in the next `realize`. CompileError as in `realize`.
    void compile_jit(const Target &target = Target());
    /// The same after autoschedule(), which otherwise takes the sizes from the next `realize`.
    void compile_jit(const Sizes &sizes, const Target &target = Target());

    /// Compiles to a function of these Params, ImageParams and Buffers, followed by the outputs.
    /// CompileError if a Param or ImageParam that the pipeline uses is missing. A Buffer that is
    /// used but not listed is a constant of the function.
    Callable compile_to_callable(const std::vector<Argument> &args,
                                 const Target &target = Target());
    /// The ImageParams that the pipeline uses, then its Params; neither Buffers nor outputs. Suitable as
    /// `args` of compile_to_callable.
    std::vector<Argument> infer_arguments() const;

    /// Handlers for all calls, in place of functions of the run time. Do not change them during a
    /// call. A Callable keeps the handlers that were set when it was created.
    JITHandlers &jit_handlers();

    /// Prints the loops to stdout.
    void print_loop_nest() const;

  private:
    /// An undefined Buffer if `output` is null.
    static Buffer<void> buffer_of(const RawBuffer *output) {
        return output ? Buffer<void>(*output) : Buffer<void>();
    }
    void realize_into(JITUserContext *context, const BufferBase &output, const Target &target);
    const Self &self() const { return static_cast<const Self &>(*this); }
};

}  // namespace Pipe
