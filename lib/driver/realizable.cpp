// Realizable: compiling and running Pipelines and Funcs.

#include <pipe/predict.h>
#include <pipe/realizable.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "driver/callable.h"
#include "driver/compiler.h"
#include "driver/extern_calls.h"
#include "driver/pipeline_of.h"
#include "language/contents.h"
#include "language/freeze.h"
#include "reference/evaluate.h"
#include "support/deep_stack.h"
#include "support/error_text.h"
#include "support/text.h"

namespace Pipe {

using driver::checked;
using driver::Compiler;
using driver::pipeline_of;
using support::Field;

namespace {

/// One size of at least 1 per dimension of each output.
void check_sizes(const std::vector<Func> &outputs, const std::vector<int64_t> &sizes) {
    for (const Func &f : outputs) {
        if (!f.defined())
            throw CompileError(
                fmt::format("The output Func '{}'{} has no definition. Give it one, as "
                            "in f(x, y) = x + y, before it is realized.",
                            language::func_field(f.name()), language::at(f.contents()->where)));
        if (static_cast<int>(sizes.size()) != f.dimensions())
            throw RuntimeError(fmt::format(
                "{} has {}, but realize is given {}. Give one size per dimension.",
                f.contents()->description(),
                support::marked(Field::Needed, support::counted(f.dimensions(), "dimension")),
                support::marked(Field::Given, support::counted(sizes.size(), "size"))));
        for (size_t d = 0; d < sizes.size(); d++)
            if (sizes[d] < 0)
                throw RuntimeError(fmt::format(
                    "Output '{}'{}: the extent of dimension {} is {}, but must be at "
                    "least 0. Give sizes, not ends.",
                    language::func_field(f.name()), language::at(f.contents()->where),
                    support::marked(Field::Dimension, d), support::marked(Field::Given, sizes[d])));
    }
}

/// The storage order of the dimensions, innermost first: reorder_storage().
std::vector<int> storage_order(const Func &f) {
    const std::vector<std::string> &args = f.contents()->args;
    std::vector<int> order;
    for (const std::string &dim : f.contents()->schedule.storage_order)
        order.push_back(static_cast<int>(std::find(args.begin(), args.end(), dim) - args.begin()));
    return order;
}

/// Allocates Buffers for all values of the outputs.
Realization allocate(const std::vector<Func> &outputs, const Sizes &wanted) {
    check_sizes(outputs, wanted.extents);
    std::vector<Buffer<void>> buffers;
    for (const Func &f : outputs)
        for (Type type : f.types())
            buffers.emplace_back(type, wanted.extents, storage_order(f), f.name());
    return Realization(std::move(buffers));
}

/// Buffers of these sizes without memory.
Realization shapes(const std::vector<Func> &outputs, const Sizes &sizes) {
    check_sizes(outputs, sizes.extents);
    std::vector<Buffer<void>> buffers;
    std::vector<BufferDim> dims;
    int64_t stride = 1;
    for (int64_t size : sizes.extents) {
        dims.push_back({0, size, stride});
        stride *= size;
    }
    for (const Func &f : outputs)
        for (Type type : f.types())
            buffers.emplace_back(type, static_cast<void *>(nullptr), dims);
    return Realization(std::move(buffers));
}

/// Calls f with the addresses of the Buffers.
template <typename F> auto with_pointers(const Realization &buffers, const F &f) {
    std::vector<const BufferBase *> pointers;
    for (size_t i = 0; i < buffers.size(); i++)
        pointers.push_back(&buffers[i]);
    return f(driver::Outputs(pointers));
}

void evaluate_reference(const std::vector<Func> &outputs, const Realization &buffers,
                        const language::ExternNames &extern_names) {
    const language::Frozen frozen =
        language::freeze(outputs, get_host_target(), {}, extern_names);
    const graph::Graph &graph = frozen.graph;
    driver::Slots slots(frozen);
    driver::CallArguments call;
    with_pointers(buffers, [&](driver::Outputs o) { slots.gather(o, call.given); });
    slots.fill(call, false);  // the same checks; what is read lies on the host then
    std::vector<BufferView> views;
    for (size_t i = 0; i < buffers.size(); i++)
        views.push_back(buffers[i].view());
    std::map<std::string, BufferView> inputs;
    std::map<std::string, const void *> scalars;
    for (size_t i = 0; i < slots.slots().size(); i++) {
        const driver::Slot &slot = slots.slots()[i];
        if (slot.image)
            inputs[slot.name] = slot.image->buffer.view();
        if (slot.param)
            scalars[slot.name] = &call.given[i].bits;
    }
    driver::ExternCalls calls;
    reference::Options options;
    options.call_extern = [&](const Expr &call, const std::vector<uint64_t> &bits) {
        calls.run(call, bits);
    };
    reference::evaluate(graph, views, inputs, scalars, options);
}

void run_reference(const Pipeline &pipeline, const Realization &buffers) {
    language::ExternNames extern_names = checked(pipeline.compiler()).extern_names();
    support::on_deep_stack([&] { evaluate_reference(pipeline.outputs(), buffers, extern_names); });
}

/// `buffers`: see Compiler::get.
std::shared_ptr<driver::Compiled> compiled(const Pipeline &pipeline, const Target &target,
                                           const driver::Outputs *buffers = nullptr) {
    return checked(pipeline.compiler()).get(pipeline.outputs(), target, buffers);
}

void run(const Pipeline &pipeline, driver::Outputs buffers, JITUserContext *context,
         const Target &target, std::vector<Buffer<void>> *grown = nullptr) {
    const Compiler &compiler = checked(pipeline.compiler());
    compiled(pipeline, target, &buffers)
        ->run(buffers, {context, compiler.handlers, *compiler.profile, grown});
}

/// Allocates and computes Buffers of these sizes. If updates or tails write beyond them, they are
/// crops of larger ones.
Realization realize_new(const Pipeline &pipeline, const Sizes &sizes, JITUserContext *context,
                        const Target &target) {
    Realization made = allocate(pipeline.outputs(), sizes);
    std::vector<Buffer<void>> grown;
    with_pointers(made, [&](driver::Outputs o) { run(pipeline, o, context, target, &grown); });
    if (grown.empty())
        return made;
    for (Buffer<void> &buffer : grown)
        for (size_t d = 0; d < sizes.extents.size(); d++)
            buffer.crop(static_cast<int>(d), 0, sizes.extents[d]);
    return Realization(std::move(grown));
}

}  // namespace

template <typename Self>
Realization Realizable<Self>::realize(JITUserContext *context, const Sizes &sizes,
                                      const Target &target) {
    return realize_new(pipeline_of(self()), sizes, context, target);
}

template <typename Self>
void Realizable<Self>::realize(JITUserContext *context, const Realization &outputs,
                               const Target &target) {
    with_pointers(outputs,
                  [&](driver::Outputs o) { run(pipeline_of(self()), o, context, target); });
}

template <typename Self>
void Realizable<Self>::realize_into(JITUserContext *context, const BufferBase &output,
                                    const Target &target) {
    const BufferBase *one[] = {&output};
    run(pipeline_of(self()), driver::Outputs(one), context, target);
}

template <typename Self> Realization Realizable<Self>::realize_reference(const Sizes &sizes) {
    const Pipeline &pipeline = pipeline_of(self());
    Realization outputs = allocate(pipeline.outputs(), sizes);
    run_reference(pipeline, outputs);
    return outputs;
}

template <typename Self> void Realizable<Self>::realize_reference(const Realization &outputs) {
    run_reference(pipeline_of(self()), outputs);
}

template <typename Self>
void Realizable<Self>::infer_input_bounds(JITUserContext *context, const Sizes &sizes,
                                          const Target &target) {
    infer_input_bounds(context, shapes(pipeline_of(self()).outputs(), sizes), target);
}

template <typename Self>
void Realizable<Self>::infer_input_bounds(JITUserContext *context, const Realization &outputs,
                                          const Target &target) {
    const Pipeline &pipeline = pipeline_of(self());
    const Compiler &compiler = checked(pipeline.compiler());
    with_pointers(outputs, [&](driver::Outputs o) {
        compiled(pipeline, target, &o)
            ->infer_inputs(o, {context, compiler.handlers, *compiler.profile});
    });
}

template <typename Self>
Prediction Realizable<Self>::predict(const Realization &outputs, const Target &target) {
    const Pipeline &pipeline = pipeline_of(self());
    const auto options = checked(pipeline.compiler()).settings().autoschedule;
    Prediction result;
    with_pointers(outputs, [&](driver::Outputs o) {
        result =
            compiled(pipeline, target, &o)->predict(o, options.value_or(AutoscheduleOptions()));
    });
    return result;
}

template <typename Self>
Prediction Realizable<Self>::predict(const Sizes &sizes, const Target &target) {
    return predict(shapes(pipeline_of(self()).outputs(), sizes), target);
}

template <typename Self> void Realizable<Self>::compile_jit(const Target &target) {
    compiled(pipeline_of(self()), target)->compile();
}

template <typename Self>
void Realizable<Self>::compile_jit(const Sizes &sizes, const Target &target) {
    const Pipeline &pipeline = pipeline_of(self());
    with_pointers(shapes(pipeline.outputs(), sizes),
                  [&](driver::Outputs o) { compiled(pipeline, target, &o)->compile(); });
}

template <typename Self>
Callable Realizable<Self>::compile_to_callable(const std::vector<Argument> &args,
                                               const Target &target) {
    const Pipeline &pipeline = pipeline_of(self());
    auto made = compiled(pipeline, target);
    made->compile();
    const Compiler &compiler = *pipeline.compiler();
    return Callable(driver::make_callable(made, args, compiler.handlers, compiler.profile));
}

template <typename Self> std::vector<Argument> Realizable<Self>::infer_arguments() const {
    const Pipeline &pipeline = pipeline_of(self());
    driver::Slots slots(checked(pipeline.compiler()).freeze(pipeline.outputs()));
    return driver::input_arguments(slots);
}

template <typename Self> JITHandlers &Realizable<Self>::jit_handlers() {
    return checked(pipeline_of(self()).compiler()).handlers;
}

template <typename Self> void Realizable<Self>::print_loop_nest() const {
    std::string text = Pipeline(pipeline_of(self())).loop_nest();
    std::fwrite(text.data(), 1, text.size(), stdout);
}

template class Realizable<Func>;
template class Realizable<Pipeline>;

}  // namespace Pipe
