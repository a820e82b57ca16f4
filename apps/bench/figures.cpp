#include "apps/bench/figures.h"

#include "apps/bench/ours.h"

#include <pipe/pipe.h>

#include <fmt/format.h>
#include <omp.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// The numbers printed by a program next to this one; empty if it does not exist or fails.
std::vector<double> ask(const std::string &program, const std::string &args) {
    const auto self = std::filesystem::read_symlink("/proc/self/exe");
    const auto path = program.empty() ? self : self.parent_path() / program;
    if (!std::filesystem::exists(path))
        return {};
    FILE *pipe = popen(fmt::format("'{}' {}", path.string(), args).c_str(), "r");
    if (!pipe)
        return {};
    std::vector<double> numbers;
    for (double number; std::fscanf(pipe, "%lf", &number) == 1;)
        numbers.push_back(number);
    return pclose(pipe) == 0 ? numbers : std::vector<double>();
}

/// The applications with a requirement for pictures of any size.
bool is_small_stencil(const apps::App &app) {
    return app.name.starts_with("blur") || app.name.starts_with("unsharp") ||
           app.name.starts_with("harris");
}

/// Ratios of medians, for which the geometric mean is a requirement, too.
class Ratios {
  public:
    Ratios(std::string what, double limit) : what_(std::move(what)), limit_(limit) {}

    void add(const apps::App &app, const Variant *ours, const Variant *theirs,
             std::vector<Figure> &figures) {
        if (!ours || !theirs)
            return;
        const double ratio = median(ours->times_ms) / median(theirs->times_ms);
        figures.push_back({app.name + ": " + what_, ratio, "", limit_});
        logarithms_ += std::log(ratio);
        count_++;
    }
    void add_mean(std::vector<Figure> &figures) const {
        if (count_ > 1)
            figures.push_back({fmt::format("geometric mean of {}: {}", count_, what_),
                               std::exp(logarithms_ / count_), "", 1.0});
    }

  private:
    std::string what_;
    double limit_, logarithms_ = 0;
    int count_ = 0;
};

/// Blurs reach 80 % of the copy bandwidth, the convolution layer 85 % of the FMA peak.
void compare_with_ceilings(const AppResult &r, std::vector<Figure> &figures) {
    const Variant *hand = find_sampled(r.variants, "hand");
    if (hand && r.app->name.starts_with("blur"))
        figures.push_back({r.app->name + ": by hand, over copying as many bytes",
                           1 / bandwidth_fraction(r, *hand), "", 1 / 0.8});
    if (hand && r.app->name == "conv_layer")
        figures.push_back({r.app->name + ": FMA peak, over what the hand schedule reaches",
                           1 / fma_fraction(r, *hand), "", 1 / 0.85});
}

void compare_compile_times(AppResult &r, std::vector<Figure> &figures) {
    const Variant *own = find_sampled(r.variants, "auto");
    if (own && is_small_stencil(*r.app))
        figures.push_back({r.app->name + ": choosing the schedule", own->schedule_ms, "ms", 10});
    const Variant *hand = find_sampled(r.variants, "hand");
    const std::vector<double> halide = ask("halide_peers", "jit " + r.app->name);
    if (hand && halide.size() == 2) {
        r.halide_jit_ms = halide[0] + halide[1];
        figures.push_back({r.app->name + ": compiling the hand schedule, ours / Halide's JIT",
                           (hand->lower_ms + hand->llvm_ms) / r.halide_jit_ms, "", 1});
    }
}

/// Microseconds of a warm `realize` of 64x64 pixels with the hand schedule on one thread, including
/// the arithmetic.
void measure_call(const apps::App &app, int threads, std::vector<Figure> &figures) {
    const Data data = make_data(app, {64, 64});
    std::unique_ptr<apps::Program> program = app.make();
    program->schedule_by_hand(Pipe::get_host_target());
    apps::set_inputs(*program, data.inputs);
    Pipe::Pipeline pipeline(program->output());
    omp_set_num_threads(1);
    std::vector<double> times;
    for (int i = 0; i < 2000; ++i) {
        const auto start = Clock::now();
        pipeline.realize(data.output);
        times.push_back(milliseconds_since(start) * 1000);
    }
    omp_set_num_threads(threads);
    figures.push_back({app.name + ": warm realize of 64x64, 1 thread", median(times), "us", 20});
}

/// Nanoseconds of `call` on one thread: the median of many batches.
template <typename Call> double nanoseconds(const Call &call) {
    constexpr int batches = 200, calls = 500;
    std::vector<double> times;
    for (int i = 0; i < batches; ++i) {
        const auto start = Clock::now();
        for (int k = 0; k < calls; ++k)
            call();
        times.push_back(milliseconds_since(start) * 1e6 / calls);
    }
    return median(times);
}

/// The overhead of a call: pipelines of one element.
void measure_dispatch(int threads, std::vector<Figure> &figures) {
    using namespace Pipe;
    Var x("x");
    ImageParam in(Int(32), 1, "in");
    Param<int> p("p", 1);
    Func f("f");
    f(x) = in(x) + p;
    const Buffer<int> source(1), result(1);
    in.set(source);
    Pipeline pipeline(f);
    const Callable callable = pipeline.compile_to_callable({in, p});
    omp_set_num_threads(1);
    figures.push_back({"call of a Callable of one element, 1 thread",
                       nanoseconds([&] { callable(source, 1, result); }), "ns", 1000});
    figures.push_back({"warm realize of one element, 1 thread",
                       nanoseconds([&] { pipeline.realize(result); }), "ns", 1000});
    omp_set_num_threads(threads);
}

/// Scratch memory for the whole picture divided by that for its upper half, with the code scheduled
/// for the whole. On one thread, because the number of threads that hold scratch memory varies.
void measure_scratch(const apps::App &app, apps::Size size, int threads,
                     std::vector<Figure> &figures) {
    omp_set_num_threads(1);
    std::unique_ptr<apps::Program> program = app.make();
    Pipe::Pipeline pipeline(program->output());
    pipeline.autoschedule(Pipe::get_host_target());
    auto scratch_bytes = [&](apps::Size of) {
        const Data data = make_data(app, of);
        apps::set_inputs(*program, data.inputs);
        pipeline.realize(data.output);
        return pipeline.peak_scratch_bytes();
    };
    const int64_t whole = scratch_bytes(size);
    const int64_t half = scratch_bytes({size.width, (size.height + 1) / 2});
    omp_set_num_threads(threads);
    const double growth = whole == half ? 1 : double(whole) / double(std::max<int64_t>(1, half));
    figures.push_back({fmt::format("{}: scratch of auto ({} KiB), whole picture / half of it",
                                   app.name, (whole + 1023) / 1024),
                       growth, "", 1.05});
}

}  // namespace

Data make_data(const apps::App &app, apps::Size size) {
    const std::unique_ptr<apps::Program> program = app.make();
    return {make_inputs(app, *program, size), make_output(app, *program, size)};
}

std::vector<Figure> measure_figures(std::vector<AppResult> &results, int threads) {
    std::vector<Figure> figures;
    measure_dispatch(threads, figures);
    Ratios hand("same hand schedule, ours / Halide's", 1.05);
    Ratios own("autoscheduled, ours / best of Halide's", 1.0);
    for (AppResult &r : results) {
        hand.add(*r.app, find_sampled(r.variants, "hand"), find_sampled(r.variants, "halide-hand"),
                 figures);
        own.add(*r.app, find_sampled(r.variants, "auto"), best_halide_autoscheduler(r), figures);
        compare_compile_times(r, figures);
        compare_with_ceilings(r, figures);
        if (is_small_stencil(*r.app)) {
            measure_scratch(*r.app, r.size, threads, figures);
            measure_call(*r.app, threads, figures);
        }
        if (r.app->name == "harris") {
            const std::vector<double> cold =
                ask("", fmt::format("--cold harris --threads {}", threads));
            if (cold.size() == 1) {
                figures.push_back({"harris: cold autoscheduled realize", cold[0], "ms", 300});
            }
        }
    }
    hand.add_mean(figures);
    own.add_mean(figures);
    return figures;
}

int run_cold(const apps::App &app, int threads) {
    const Data data = make_data(app, app.size);
    omp_set_num_threads(threads);
    const auto start = Clock::now();
    std::unique_ptr<apps::Program> program = app.make();
    apps::set_inputs(*program, data.inputs);
    Pipe::Pipeline pipeline(program->output());
    pipeline.autoschedule(Pipe::get_host_target());
    pipeline.realize(data.output);
    fmt::print("{}\n", milliseconds_since(start));
    return 0;
}

}  // namespace bench
