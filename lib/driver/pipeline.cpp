// Pipeline, and the part of Func that runs.

#include <pipe/pipeline.h>

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "driver/callable.h"
#include "driver/compiler.h"
#include "driver/extern_calls.h"
#include "driver/loop_nest.h"
#include "graph/collect.h"
#include "graph/contents.h"
#include "graph/freeze.h"
#include "graph/match.h"
#include "graph/schedule_source.h"
#include "ir/extern_functions.h"
#include "lower/private_accumulators.h"
#include "reference/evaluate.h"
#include "support/deep_stack.h"
#include "support/text.h"

namespace Pipe {

using driver::checked;
using driver::Compiler;

namespace {

/// One size of at least 1 per dimension of each output.
void check_sizes(const std::vector<Func> &outputs, const std::vector<int64_t> &sizes) {
    for (const Func &f : outputs) {
        if (!f.defined())
            throw CompileError(
                fmt::format("The output Func '{}'{} has no definition. Give it one, as "
                            "in f(x, y) = x + y, before it is realized.",
                            graph::base_name(f.name()), graph::at(f.contents()->where)));
        if (static_cast<int>(sizes.size()) != f.dimensions())
            throw RuntimeError(fmt::format(
                "{} has {}, but realize is given {}. Give one size per dimension.",
                f.contents()->description(), support::counted(f.dimensions(), "dimension"),
                support::counted(sizes.size(), "size")));
        for (size_t d = 0; d < sizes.size(); d++)
            if (sizes[d] < 1)
                throw RuntimeError(fmt::format(
                    "Output '{}'{}: the extent of dimension {} is {}, but must be at "
                    "least 1. Do not realize where nothing is wanted.",
                    graph::base_name(f.name()), graph::at(f.contents()->where), d, sizes[d]));
    }
}

/// New Buffers for all values of the outputs.
Realization allocate(const std::vector<Func> &outputs, const Sizes &wanted) {
    check_sizes(outputs, wanted.extents);
    std::vector<Buffer<void>> buffers;
    for (const Func &f : outputs)
        for (Type type : f.types())
            buffers.emplace_back(type, wanted.extents, f.name());
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
                        const graph::ExternNames &extern_names) {
    graph::Graph graph = graph::freeze(outputs, get_host_target(), {}, extern_names).graph;
    driver::Slots slots(graph);
    driver::CallArguments call;
    with_pointers(buffers, [&](driver::Outputs o) { slots.gather(o, call.given); });
    slots.fill(call);  // the same checks
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

void run_reference(const std::vector<Func> &outputs, const Realization &buffers,
                   const graph::ExternNames &extern_names) {
    support::on_deep_stack([&] { evaluate_reference(outputs, buffers, extern_names); });
}

/// What a Func keeps for its own `realize`.
Compiler &compiler_of(const Func &f) {
    static std::mutex mutex;
    std::lock_guard lock(mutex);
    std::shared_ptr<void> &kept = f.contents()->compiler;
    if (!kept)
        kept = std::make_shared<Compiler>();
    return *static_cast<Compiler *>(kept.get());
}

void run(Compiler &compiler, const std::vector<Func> &outputs, driver::Outputs buffers,
         JITUserContext *context, const Target &target,
         std::vector<Buffer<void>> *grown = nullptr) {
    compiler.get(outputs, target, &buffers)
        ->run(buffers, {context, compiler.handlers, *compiler.profile, grown});
}

void run(Compiler &compiler, const std::vector<Func> &outputs, const Realization &buffers,
         JITUserContext *context, const Target &target) {
    with_pointers(buffers, [&](driver::Outputs o) { run(compiler, outputs, o, context, target); });
}

/// Computes new Buffers of these sizes. Where updates or tails go beyond them, they are parts of
/// larger ones.
Realization realize_new(Compiler &compiler, const std::vector<Func> &outputs, const Sizes &sizes,
                        JITUserContext *context, const Target &target) {
    Realization made = allocate(outputs, sizes);
    std::vector<Buffer<void>> grown;
    with_pointers(made,
                  [&](driver::Outputs o) { run(compiler, outputs, o, context, target, &grown); });
    if (grown.empty())
        return made;
    for (Buffer<void> &buffer : grown)
        for (size_t d = 0; d < sizes.extents.size(); d++)
            buffer.crop(static_cast<int>(d), 0, sizes.extents[d]);
    return Realization(std::move(grown));
}

Callable make_callable(Compiler &compiler, const std::vector<Func> &outputs,
                       const std::vector<Argument> &args, const Target &target) {
    auto compiled = compiler.get(outputs, target, nullptr);
    compiled->compile();
    return Callable(driver::make_callable(compiled, args, compiler.handlers, compiler.profile));
}

void print(const std::string &text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

Pipeline::Pipeline(const Func &output) : Pipeline(std::vector<Func>{output}) {}

Pipeline::Pipeline(const std::vector<Func> &outputs)
    : outputs_(outputs), compiler_(std::make_shared<Compiler>()) {}

Pipeline &Pipeline::autoschedule(const Target &target, const AutoscheduleOptions &options) {
    checked(compiler_).autoschedule(target, options);
    return *this;
}

AutoSchedulerResults Pipeline::apply_autoscheduler(const Target &target,
                                                   const AutoschedulerParams &params) {
    AutoscheduleOptions options;
    if (auto cores = params.extra.find("parallelism"); cores != params.extra.end()) {
        options.cores = std::atoi(cores->second.c_str());
        if (options.cores < 1)
            throw CompileError(fmt::format("apply_autoscheduler: parallelism is \"{}\", but has to "
                                           "be the number of cores, at least 1.",
                                           cores->second));
    }
    autoschedule(target, options);
    return {"Pipe", params, target, schedule_source()};
}

Func Pipeline::get_func(size_t i) const {
    checked(compiler_);
    auto funcs = graph::funcs_of(outputs_);
    if (i >= funcs.size())
        throw CompileError(fmt::format(
            "Pipeline::get_func({}): there {}, counted from 0.", i,
            funcs.size() == 1 ? "is 1 Func" : fmt::format("are {} Funcs", funcs.size())));
    return Func(std::const_pointer_cast<graph::FuncContents>(funcs[i]));
}

void Pipeline::add_requirement(const Expr &condition, const std::vector<Expr> &message) {
    graph::require_defined("add_requirement", condition);
    if (!condition.type().is_bool())
        graph::reject("add_requirement", condition,
                      "the condition must be bool. Compare with 0, as in x != 0.");
    std::vector<Expr> all{ir::make_string("required: " + graph::shortened(condition) + ".")};
    graph::Names names;
    names.add(condition);
    for (const Expr &e : message) {
        graph::require_defined("add_requirement", e);
        names.add(e);
        all.push_back(ir::make_string(" "));
        all.push_back(e);
    }
    if (!names.vars.empty() || !names.rdoms.empty() || !names.calls.empty() || names.reads_images)
        graph::reject("add_requirement", condition,
                      "a requirement is made of Params and sizes of images. Use require() in a "
                      "definition for what depends on Vars, Funcs or pixels.");
    checked(compiler_).add_requirement({condition, std::move(all)});
}

void Pipeline::invalidate_cache() {
    checked(compiler_).forget();
}

std::string AutoschedulerParams::to_string() const {
    std::string text = "autoscheduler=" + name;
    for (const auto &[key, value] : extra)
        text += " autoscheduler." + key + "=" + value;
    return text;
}

Realization Pipeline::realize(const Sizes &sizes, const Target &target) {
    return realize(nullptr, sizes, target);
}

Realization Pipeline::realize(JITUserContext *context, const Sizes &sizes, const Target &target) {
    return realize_new(checked(compiler_), outputs_, sizes, context, target);
}

void Pipeline::realize(const Realization &outputs, const Target &target) {
    realize(nullptr, outputs, target);
}

void Pipeline::realize(JITUserContext *context, const Realization &outputs, const Target &target) {
    run(checked(compiler_), outputs_, outputs, context, target);
}

void Pipeline::realize_into(JITUserContext *context, const BufferBase &output,
                            const Target &target) {
    const BufferBase *one[] = {&output};
    run(checked(compiler_), outputs_, driver::Outputs(one), context, target);
}

JITHandlers &Pipeline::jit_handlers() {
    return checked(compiler_).handlers;
}

Callable Pipeline::compile_to_callable(const std::vector<Argument> &args, const Target &target) {
    return make_callable(checked(compiler_), outputs_, args, target);
}

std::vector<Argument> Pipeline::infer_arguments() const {
    return driver::input_arguments(driver::Slots(checked(compiler_).freeze(outputs_).graph));
}

Realization Pipeline::realize_reference(const Sizes &sizes) {
    Realization outputs = allocate(outputs_, sizes);
    run_reference(outputs_, outputs, checked(compiler_).extern_names());
    return outputs;
}

void Pipeline::realize_reference(const Realization &outputs) {
    run_reference(outputs_, outputs, checked(compiler_).extern_names());
}

void Pipeline::compile_jit(const Target &target) {
    checked(compiler_).get(outputs_, target, nullptr)->compile();
}

void Pipeline::compile_jit(const Sizes &sizes, const Target &target) {
    with_pointers(shapes(outputs_, sizes), [&](driver::Outputs outputs) {
        checked(compiler_).get(outputs_, target, &outputs)->compile();
    });
}

void Pipeline::infer_input_bounds(const Sizes &sizes, const Target &target) {
    infer_input_bounds(shapes(outputs_, sizes), target);
}

void Pipeline::infer_input_bounds(const Realization &outputs, const Target &target) {
    with_pointers(outputs, [&](driver::Outputs o) {
        checked(compiler_).get(outputs_, target, &o)->infer_inputs(o);
    });
}

void Pipeline::set_jit_externs(const std::map<std::string, JITExtern> &externs) {
    graph::ExternNames others;
    for (const auto &[name, e] : externs) {
        detail::ExternFunction function = e.function;
        function.name = name.c_str();
        std::string entered = ir::register_extern_override(function);
        if (entered != name)
            others[name] = entered;
    }
    checked(compiler_).externs = externs;
    checked(compiler_).set_extern_names(others);
}

const std::map<std::string, JITExtern> &Pipeline::get_jit_externs() const {
    return checked(compiler_).externs;
}

CompileTimes Pipeline::compile_times() const {
    auto compiled = checked(compiler_).newest();
    return compiled ? compiled->times() : CompileTimes();
}

int64_t Pipeline::peak_scratch_bytes() const {
    auto compiled = checked(compiler_).newest();
    return compiled ? compiled->peak_scratch_bytes() : 0;
}

std::string Pipeline::loop_nest() {
    driver::Scheduled s = checked(compiler_).schedule(outputs_);
    auto [graph, schedule] =
        lower::private_accumulators(s.inlined, s.frozen.schedule, s.shared_loops);
    return driver::loop_nest(graph, schedule);
}

void Pipeline::print_loop_nest() {
    print(loop_nest());
}

std::string Pipeline::schedule_source() {
    driver::Scheduled s = checked(compiler_).schedule(outputs_);
    return graph::schedule_source(s.frozen.graph, s.frozen.schedule);
}

std::string Pipeline::schedule_report() {
    return checked(compiler_).schedule(outputs_).report;
}

Pipeline &Pipeline::trace_pipeline() {
    checked(compiler_).trace_pipeline();
    return *this;
}

std::string Pipeline::profiler_report() const {
    return checked(compiler_).profile->text(outputs_[0].name());
}

std::string Pipeline::profiler_html() const {
    return checked(compiler_).profile->html(outputs_[0].name());
}

void Pipeline::profiler_reset() {
    checked(compiler_).profile->reset();
}

Realization Func::realize(const Sizes &sizes, const Target &target) {
    return realize(nullptr, sizes, target);
}

Realization Func::realize(JITUserContext *context, const Sizes &sizes, const Target &target) {
    return realize_new(compiler_of(*this), {*this}, sizes, context, target);
}

void Func::realize(const Realization &outputs, const Target &target) {
    realize(nullptr, outputs, target);
}

void Func::realize(JITUserContext *context, const Realization &outputs, const Target &target) {
    run(compiler_of(*this), {*this}, outputs, context, target);
}

void Func::realize_into(JITUserContext *context, const BufferBase &output, const Target &target) {
    const BufferBase *one[] = {&output};
    run(compiler_of(*this), {*this}, driver::Outputs(one), context, target);
}

JITHandlers &Func::jit_handlers() {
    return compiler_of(*this).handlers;
}

Callable Func::compile_to_callable(const std::vector<Argument> &args, const Target &target) {
    return make_callable(compiler_of(*this), {*this}, args, target);
}

std::vector<Argument> Func::infer_arguments() const {
    return Pipeline(*this).infer_arguments();
}

void Func::infer_input_bounds(const Sizes &sizes, const Target &target) {
    Pipeline(*this).infer_input_bounds(sizes, target);
}

void Func::infer_input_bounds(const Realization &outputs, const Target &target) {
    Pipeline(*this).infer_input_bounds(outputs, target);
}

Realization Func::realize_reference(const Sizes &sizes) {
    return Pipeline(*this).realize_reference(sizes);
}

void Func::realize_reference(const Realization &outputs) {
    Pipeline(*this).realize_reference(outputs);
}
void Func::compile_jit(const Target &target) {
    compiler_of(*this).get({*this}, target, nullptr)->compile();
}
void Func::print_loop_nest() {
    Pipeline(*this).print_loop_nest();
}

}  // namespace Pipe
