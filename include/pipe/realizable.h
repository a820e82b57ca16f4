#pragma once
// Realizable: compiling and running, which Func and Pipeline have in common.

#include <concepts>
#include <vector>

#include <pipe/buffer.h>
#include <pipe/compiled_files.h>
#include <pipe/realization.h>
#include <pipe/target.h>

namespace Pipe {

class Callable;
struct Argument;
struct JITHandlers;
struct JITUserContext;

/// What a Pipeline does; and a Func, as the Pipeline of it alone. What is compiled is kept, and
/// compiled anew where a definition or schedule changed since. A context (pipe/jit.h), which may be
/// null, says what holds for this call alone. Where no target is given, it is the one that the code at hand was
/// compiled for, else that of autoschedule(), else the machine's (get_host_target()).
///
/// \param Self  Pipeline or Func
template <typename Self> class Realizable : public CompiledFiles<Self> {
  public:
    /// Computes the outputs in new Buffers of these sizes, with mins 0. Where updates or tail
    /// strategies write more than that, all of it is computed, and the Buffers are the part that
    /// was asked for (with the strides of the whole).
    Realization realize(const Sizes &sizes = {}, const Target &target = Target()) {
        return realize(nullptr, sizes, target);
    }
    Realization realize(JITUserContext *context, const Sizes &sizes = {},
                        const Target &target = Target());
    /// Computes the elements of the Buffers given, one per value of each output. RuntimeError where
    /// a Buffer is undefined, has another type or number of dimensions, does not hold all that is
    /// written, or an input does not cover what is read.
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
    /// The same as plain data (pipe/raw_buffer.h). (A template, so that `{}` is not taken for it.)
    template <std::same_as<RawBuffer> Raw>
    void realize(Raw *output, const Target &target = Target()) {
        realize_into(nullptr, buffer_of(output), target);
    }
    template <std::same_as<RawBuffer> Raw>
    void realize(JITUserContext *context, Raw *output, const Target &target = Target()) {
        realize_into(context, buffer_of(output), target);
    }

    /// The same by the definitions alone: no schedule, slow, the oracle of the tests.
    Realization realize_reference(const Sizes &sizes);
    void realize_reference(const Realization &outputs);

    /// Gives every ImageParam that is not set a new Buffer of what is read of it for outputs of
    /// these sizes, or for these outputs (their shapes: they need no memory). RuntimeError where an
    /// output has another number of dimensions, or an extern stage fails to answer.
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

    /// Compiles now what the next `realize` would.
    void compile_jit(const Target &target = Target());
    /// The same, with the autoscheduler told these sizes of the outputs.
    void compile_jit(const Sizes &sizes, const Target &target = Target());

    /// A function of these Params and ImageParams and of the outputs. CompileError where one that
    /// is used is missing.
    Callable compile_to_callable(const std::vector<Argument> &args,
                                 const Target &target = Target());
    /// The Params and ImageParams that are used.
    std::vector<Argument> infer_arguments() const;

    /// What takes the place of the run time's own functions in all calls. Not to be changed while
    /// one runs. A Callable keeps what stood here when it was made.
    JITHandlers &jit_handlers();

    /// The loops, on stdout.
    void print_loop_nest() const;

  private:
    /// Undefined where it is null.
    static Buffer<void> buffer_of(const RawBuffer *output) {
        return output ? Buffer<void>(*output) : Buffer<void>();
    }
    void realize_into(JITUserContext *context, const BufferBase &output, const Target &target);
    const Self &self() const { return static_cast<const Self &>(*this); }
};

}  // namespace Pipe
