#include "apps/bench/ours.h"

#include <pipe/pipe.h>

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>

namespace bench {
namespace {

enum class Way { Naive, Hand, Auto };

/// The program with its inputs and its schedule, not yet compiled.
struct Prepared {
    Prepared(const apps::App &app, Way way, const Data &data)
        : program(app.make()), pipeline(program->output()), out(data.output) {
        apps::set_inputs(*program, data.inputs);
        // Halide always permits reassociation of sums. The naive variant, with which all are
        // compared, keeps the order of the definition.
        if (way != Way::Naive)
            target.set_feature(Pipe::Target::FastMath);
        if (way == Way::Naive)
            program->schedule_naively();
        if (way == Way::Hand)
            program->schedule_by_hand(target);
        if (way == Way::Auto)
            pipeline.autoschedule(target);
    }

    Pipe::Target target = Pipe::get_host_target();
    std::unique_ptr<apps::Program> program;
    Pipe::Pipeline pipeline;
    Pipe::Buffer<> out;
};

/// The three lowering passes that take longest.
std::string slowest_passes(Pipe::CompileTimes times) {
    auto &passes = times.pass_ms;
    const size_t shown = std::min<size_t>(3, passes.size());
    std::partial_sort(passes.begin(), passes.begin() + std::ptrdiff_t(shown), passes.end(),
                      [](const auto &a, const auto &b) { return a.second > b.second; });
    std::string text;
    for (size_t i = 0; i < shown; ++i)
        text +=
            fmt::format("{}{} {:.1f}", i ? ", " : "lowering: ", passes[i].first, passes[i].second);
    return text;
}

Variant variant(const char *name, Way way, const apps::App &app, const Data &data) {
    Variant v;
    v.name = name;
    try {
        auto prepared = std::make_shared<Prepared>(app, way, data);
        v.run = [prepared] { prepared->pipeline.realize(prepared->out, prepared->target); };
        v.run();  // compiles for these sizes
        const Pipe::CompileTimes times = prepared->pipeline.compile_times();
        v.schedule_ms = times.schedule_ms;
        v.lower_ms = times.lower_ms;
        v.llvm_ms = times.llvm_ms;
        v.note = slowest_passes(times);
    } catch (const Pipe::Error &error) {
        v.failure = error.what();
    }
    return v;
}

}  // namespace

std::vector<Variant> our_variants(const apps::App &app, const Data &data, int threads,
                                  const Wanted &wanted) {
    omp_set_num_threads(threads);
    std::vector<Variant> variants;
    for (auto [name, way] :
         {std::pair{"naive", Way::Naive}, {"hand", Way::Hand}, {"auto", Way::Auto}})
        if (wanted(name))
            variants.push_back(variant(name, way, app, data));
    return variants;
}

}  // namespace bench
