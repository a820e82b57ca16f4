// pipe_tune: measures schedules of an application and keeps the fastest in a schedule file.
#include "apps/common/arrays.h"
#include "apps/common/registry.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <pipe/pipe.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include <unistd.h>

namespace {

/// Ctrl-C ends the search; what has been found is kept.
volatile std::sig_atomic_t interrupted = 0;

void interrupt(int) {
    interrupted = 1;
    std::signal(SIGINT, SIG_DFL);  // a second one ends the program
}

struct Options {
    std::string app, file, size;
    double seconds = 60;
    int threads = 0, candidates = 32;
    bool quiet = false;
};

apps::Size size_of(const apps::App &app, const Options &options) {
    apps::Size size = app.size;
    if (!options.size.empty() &&
        (std::sscanf(options.size.c_str(), "%dx%d", &size.width, &size.height) != 2 ||
         size.width < 1 || size.height < 1))
        throw CLI::ValidationError("--size", "not WIDTHxHEIGHT: " + options.size);
    return size;
}

/// On a terminal, a line that overwrites itself, and one that stays for each new best.
void show(const Pipe::TuneProgress &progress) {
    static std::string best;
    const bool terminal = isatty(STDOUT_FILENO);
    const bool is_new = progress.best.name != best;
    best = progress.best.name;
    if (is_new)
        fmt::print("{}{:6.1f} s  {:9.4g} ms  {}\n", terminal ? "\r\x1b[K" : "", progress.seconds,
                   progress.best.min_ms, best);
    if (!terminal)
        return;
    if (progress.round == 0)
        fmt::print("\r\x1b[K{:6.1f} s  tried {} of {}: {}", progress.seconds, progress.tried,
                   progress.of, progress.latest.name);
    else
        fmt::print("\r\x1b[K{:6.1f} s  round {} of the fastest {}", progress.seconds,
                   progress.round, progress.left);
    std::fflush(stdout);
}

void print(const Pipe::TuneResult &result) {
    auto find = [&](const std::string &name) -> const Pipe::TuneCandidate * {
        for (const Pipe::TuneCandidate &c : result.candidates)
            if (c.name == name && c.samples > 0)
                return &c;
        return nullptr;
    };
    fmt::print("\n{}\n", result.table());
    const double best = result.best().min_ms;
    for (const char *name : {"hand", "auto"})
        if (const auto *c = find(name))
            fmt::print("tuned / {}: {:.3f} ({:.4g} ms / {:.4g} ms)\n", name, best / c->min_ms, best,
                       c->min_ms);
}

int run(const Options &options) {
    const apps::App &app = *apps::find_app(options.app);
    const apps::Size size = size_of(app, options);
    if (options.threads > 0)
        Pipe::set_num_threads(options.threads);
    fmt::print("{}, {}x{}: making the input\n", app.title, size.width, size.height);
    std::fflush(stdout);
    const auto program = app.make();
    const Pipe::Buffer<> output = apps::make_output(app, *program, size);
    apps::set_inputs(*program, apps::make_inputs(app, *program, size));

    // As the benchmark compiles hand and auto.
    const Pipe::Target target = Pipe::get_host_target().with_feature(Pipe::Target::FastMath);
    program->schedule_by_hand(target);
    Pipe::TuneOptions tune;
    tune.target = target;
    tune.seconds = options.seconds;
    tune.candidates = options.candidates;
    tune.file = options.file;
    if (app.tolerance > 0)
        tune.tolerance = app.tolerance;
    tune.stop = [] { return interrupted != 0; };
    if (!options.quiet)
        tune.progress = show;
    std::signal(SIGINT, interrupt);
    Pipe::Pipeline pipeline(program->output());
    const Pipe::TuneResult result = pipeline.tune(output, tune);
    print(result);
    fmt::print("{} after {:.1f} s; the schedule is in {}\n",
               result.complete ? "complete" : "ended early (run it again to go on)", result.seconds,
               options.file);
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    Options options;
    std::vector<std::string> names;
    for (const apps::App &app : apps::registry())
        names.push_back(app.name);
    CLI::App cli{"Measures schedules of an application: its hand schedule, and those that the cost "
                 "model finds best. The fastest goes to a schedule file."};
    cli.add_option("app", options.app, "the application")->required()->check(CLI::IsMember(names));
    cli.add_option("--seconds", options.seconds, "time limit")->check(CLI::PositiveNumber);
    cli.add_option("--file", options.file,
                   "the schedule file, which is taken up if it exists; default: APP.json");
    cli.add_option("--candidates", options.candidates, "schedules of the cost model to try")
        ->check(CLI::Range(0, 10000));
    cli.add_option("--size", options.size,
                   "WIDTHxHEIGHT of the output instead of the papers' size");
    cli.add_option("--threads", options.threads, "number of threads; default: all")
        ->check(CLI::Range(1, 1024));
    cli.add_flag("--quiet", options.quiet, "no progress");
    CLI11_PARSE(cli, argc, argv);
    if (options.file.empty())
        options.file = options.app + ".json";
    try {
        return run(options);
    } catch (const std::exception &error) {
        fmt::print(stderr, "pipe_tune: {}\n", error.what());
        return 1;
    }
}
