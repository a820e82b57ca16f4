#include "apps/bench/ours.h"

#include <pipe/pipe.h>

#include <fmt/format.h>
#include <omp.h>

namespace bench {
namespace {

enum class Way { Naive, Hand, Auto };

/// The program with its input set and its schedule given, not yet compiled.
struct Prepared {
    Prepared(const apps::App &app, Way way, const Array &input, const Array &output)
        : program(app.make()), pipeline(program->output()), out(view(output)) {
        program->inputs.at(0).set(view(input));
        const Pipe::Target target = Pipe::get_host_target();
        if (way == Way::Naive) program->schedule_naively();
        if (way == Way::Hand) program->schedule_by_hand(target);
        if (way == Way::Auto) pipeline.autoschedule(target);
    }

    std::unique_ptr<apps::Program> program;
    Pipe::Pipeline pipeline;
    Pipe::Buffer<> out;
};

Variant variant(const char *name, Way way, const apps::App &app, const Array &input,
                const Array &output) {
    Variant v;
    v.name = name;
    try {
        auto prepared = std::make_shared<Prepared>(app, way, input, output);
        v.run = [prepared] { prepared->pipeline.realize(prepared->out); };
        v.run(); // compiles, for these sizes
        const Pipe::CompileTimes times = prepared->pipeline.compile_times();
        v.schedule_ms = times.schedule_ms;
        v.lower_ms = times.lower_ms;
        v.llvm_ms = times.llvm_ms;
    } catch (const Pipe::Error &error) {
        v.failure = error.what();
    }
    return v;
}

} // namespace

Pipe::Buffer<> view(const Array &array) {
    std::vector<Pipe::BufferDim> shape;
    int64_t stride = 1;
    for (apps::Range range : array.box()) {
        shape.push_back({range.min, range.extent, stride});
        stride *= range.extent;
    }
    const bool is_float = array.element() == Element::Float;
    return {is_float ? Pipe::Float(array.bits()) : Pipe::UInt(array.bits()), array.data(), shape};
}

std::vector<Variant> our_variants(const apps::App &app, const Array &input, const Array &output,
                                  int threads) {
    omp_set_num_threads(threads);
    return {variant("naive", Way::Naive, app, input, output),
            variant("hand", Way::Hand, app, input, output),
            variant("auto", Way::Auto, app, input, output)};
}

} // namespace bench
