#include "apps/bench/ours.h"

#include "apps/common/way.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>

namespace bench {

using apps::Way;

namespace {

/// The pipeline with its inputs and its schedule, not yet compiled.
Pipe::Pipeline prepare(const apps::App &app, Way way, const Data &data,
                       const Pipe::Target &target) {
    const std::unique_ptr<apps::Program> program = app.make();
    Pipe::Pipeline pipeline(program->output());
    apps::set_inputs(*program, data.inputs);
    apps::schedule(*program, pipeline, way, target);
    return pipeline;
}

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

Variant variant(Way way, const apps::App &app, const Data &data) {
    Pipe::Target target = Pipe::get_host_target();
    // Halide always permits reassociation of sums. The naive variant, with which all are
    // compared, keeps the order of the definition.
    if (way != Way::Naive)
        target.set_feature(Pipe::Target::FastMath);
    return pipe_variant(apps::name_of(way), target, data.output,
                        [&] { return prepare(app, way, data, target); });
}

}  // namespace

Variant pipe_variant(const std::string &name, const Pipe::Target &target,
                     const Pipe::Buffer<> &output, const std::function<Pipe::Pipeline()> &make) {
    Variant v;
    v.name = name;
    v.ours = true;
    try {
        const auto pipeline = std::make_shared<Pipe::Pipeline>(make());
        v.run = [pipeline, output, target] { pipeline->realize(output, target); };
        v.run();  // compiles for these sizes
        const Pipe::CompileTimes times = pipeline->compile_times();
        v.schedule_ms = times.schedule_ms;
        v.lower_ms = times.lower_ms;
        v.llvm_ms = times.llvm_ms;
        v.note = slowest_passes(times);
    } catch (const Pipe::Error &error) {
        v.failure = error.what();
    }
    return v;
}

std::vector<Variant> our_variants(const apps::App &app, const Data &data, int threads,
                                  const Wanted &wanted) {
    omp_set_num_threads(threads);
    std::vector<Variant> variants;
    for (Way way : {Way::Naive, Way::Hand, Way::Auto})
        if (wanted(apps::name_of(way)))
            variants.push_back(variant(way, app, data));
    return variants;
}

}  // namespace bench
