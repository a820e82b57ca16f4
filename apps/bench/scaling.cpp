#include "apps/bench/scaling.h"

#include <pipe/pipe.h>

#include <fmt/format.h>

#include <cmath>

namespace bench {
namespace {

using Pipe::Func;

/// Each stage adds three adjacent values of the previous one.
struct Chain {
    Pipe::Var x{"x"}, y{"y"};
    Pipe::ImageParam input{Pipe::Float(32), 2, "input"};
    std::vector<Func> stages;

    explicit Chain(int length) {
        for (int i = 0; i < length; ++i) {
            const Func before = stages.empty() ? Func(input) : stages.back();
            Func stage(fmt::format("stage{}", i));
            stage(x, y) = (before(x - 1, y) + before(x, y) + before(x + 1, y)) * 0.3f;
            stages.push_back(stage);
        }
    }

    /// All stages once per tile of the output.
    void fuse() {
        Pipe::Var xo("xo"), yo("yo"), xi("xi"), yi("yi");
        Func out = stages.back();
        out.tile(x, y, xo, yo, xi, yi, 256, 32).vectorize(xi, 8).parallel(yo);
        for (size_t i = 0; i + 1 < stages.size(); ++i)
            stages[i].compute_at(out, xo).vectorize(x, 8);
    }
};

Pipe::CompileTimes compile(int length, bool fused) {
    Chain chain(length);
    Pipe::Pipeline pipeline(chain.stages.back());
    if (fused)
        chain.fuse();
    else
        pipeline.autoschedule(Pipe::get_host_target());
    pipeline.compile_jit({1024, 1024});
    return pipeline.compile_times();
}

/// The exponent e of the best fit time ~ length^e: the slope in a log-log plot.
double growth(const std::vector<int> &lengths, const std::vector<double> &times) {
    double n = double(lengths.size()), sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (size_t i = 0; i < lengths.size(); ++i) {
        const double lx = std::log(lengths[i]), ly = std::log(times[i]);
        sx += lx, sy += ly, sxx += lx * lx, sxy += lx * ly;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

void measure(const std::string &what, bool fused, const std::vector<int> &lengths,
             std::vector<Figure> &figures) {
    compile(lengths[0], fused);  // warm-up: initialization once per process
    std::vector<double> ours;
    Pipe::CompileTimes longest;
    for (int length : lengths) {
        longest = compile(length, fused);
        ours.push_back(longest.schedule_ms + longest.lower_ms);
    }
    figures.push_back({fmt::format("{} of {} stages: compile", what, lengths.back()),
                       ours.back() + longest.llvm_ms, "ms", 30000});
    figures.push_back({fmt::format("{}: schedule + lowering grow as stages to the power of", what),
                       growth(lengths, ours), "", 1.2});
}

}  // namespace

void measure_scaling(std::vector<Figure> &figures) {
    measure("autoscheduled chain", false, {10, 100, 1000}, figures);
    measure("fused group", true, {10, 100}, figures);
}

}  // namespace bench
