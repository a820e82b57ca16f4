// Pipeline, and the part of Func that runs.

#include <pipe/pipeline.h>

#include <cstdio>

#include <fmt/format.h>

#include "driver/compiler.h"
#include "driver/loop_nest.h"
#include "graph/contents.h"
#include "graph/schedule_source.h"
#include "reference/evaluate.h"

namespace Pipe {

using driver::Compiler;

namespace {

/// New Buffers for all values of the outputs.
Realization allocate(const std::vector<Func> &outputs, const Sizes &wanted) {
    const std::vector<int64_t> &sizes = wanted.extents;
    std::vector<Buffer<void>> buffers;
    for (const Func &f : outputs) {
        if (!f.defined())
            throw CompileError(fmt::format("The output Func '{}' has no definition.", f.name()));
        if (static_cast<int>(sizes.size()) != f.dimensions())
            throw RuntimeError(fmt::format("{} has {} dimensions, but realize is given {} sizes.",
                                           f.contents()->description(), f.dimensions(),
                                           sizes.size()));
        for (size_t d = 0; d < sizes.size(); d++)
            if (sizes[d] < 1)
                throw RuntimeError(
                    fmt::format("Output '{}': the extent of dimension {} is {}, but must be at "
                                "least 1.",
                                f.name(), d, sizes[d]));
        for (Type type : f.types())
            buffers.emplace_back(type, sizes, f.name());
    }
    return Realization(std::move(buffers));
}

void run_reference(const std::vector<Func> &outputs, const Realization &buffers) {
    graph::Graph graph = graph::freeze(outputs).graph;
    driver::Slots slots(graph);
    driver::CallArguments call;
    slots.fill(buffers, call);  // the same checks
    std::vector<BufferView> views;
    for (size_t i = 0; i < buffers.size(); i++)
        views.push_back(buffers[i].view());
    std::map<std::string, BufferView> inputs;
    std::map<std::string, uint64_t> values;
    std::map<std::string, const void *> scalars;
    for (const driver::Slot &slot : slots.slots()) {
        if (slot.image)
            inputs[slot.name] = slot.image->buffer.view();
        if (!slot.param)
            continue;
        values[slot.name] = slot.param->bits.load(std::memory_order_relaxed);
        scalars[slot.name] = &values[slot.name];
    }
    reference::evaluate(graph, views, inputs, scalars);
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

Compiler &checked(const std::shared_ptr<Compiler> &compiler) {
    if (!compiler)
        throw CompileError("An undefined Pipeline was used: give it an output Func.");
    return *compiler;
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

Realization Pipeline::realize(const Sizes &sizes, const Target &target) {
    Realization outputs = allocate(outputs_, sizes);
    realize(outputs, target);
    return outputs;
}

void Pipeline::realize(const Realization &outputs, const Target &target) {
    checked(compiler_).get(outputs_, target, &outputs)->run(outputs);
}

Realization Pipeline::realize_reference(const Sizes &sizes) {
    Realization outputs = allocate(outputs_, sizes);
    run_reference(outputs_, outputs);
    return outputs;
}

void Pipeline::realize_reference(const Realization &outputs) {
    run_reference(outputs_, outputs);
}

void Pipeline::compile_jit(const Target &target) {
    checked(compiler_).get(outputs_, target, nullptr)->compile();
}

void Pipeline::compile_jit(const Sizes &sizes, const Target &target) {
    // Sizes without memory: only the shapes are looked at.
    std::vector<Buffer<void>> shapes;
    std::vector<BufferDim> dims;
    for (int64_t size : sizes.extents)
        dims.push_back({0, size, 1});
    for (const Func &f : outputs_)
        for (Type type : f.types())
            shapes.emplace_back(type, static_cast<void *>(nullptr), dims);
    Realization outputs(std::move(shapes));
    checked(compiler_).get(outputs_, target, &outputs)->compile();
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
    return driver::loop_nest(s.inlined, s.frozen.schedule);
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

Realization Func::realize(const Sizes &sizes, const Target &target) {
    Realization outputs = allocate({*this}, sizes);
    realize(outputs, target);
    return outputs;
}

void Func::realize(const Realization &outputs, const Target &target) {
    compiler_of(*this).get({*this}, target, &outputs)->run(outputs);
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
