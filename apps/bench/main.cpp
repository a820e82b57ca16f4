// pipe_bench: measures our variants and those of the installed peers, alternating in one process.
#include "apps/bench/figures.h"
#include "apps/bench/footprints.h"
#include "apps/bench/markdown.h"
#include "apps/bench/ours.h"
#include "apps/bench/papers.h"
#include "apps/bench/peers.h"
#include "apps/bench/practice.h"
#include "apps/bench/ranking.h"
#include "apps/bench/scaling.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <stdexcept>
#include <thread>

#include <unistd.h>

using namespace bench;

namespace {

/// A status line on the terminal that overwrites itself; nothing if the output is not a terminal.
void progress(const std::string &text) {
    if (!isatty(STDERR_FILENO))
        return;
    fmt::print(stderr, "\r\x1b[K{}", text);
    std::fflush(stderr);
}

struct Options {
    std::vector<std::string> apps, without, practices;
    std::string json, markdown, size, cold;
    int threads = int(std::max(1u, std::thread::hardware_concurrency()));
    int samples = 31;
    double budget_s = 20;
    bool scaling = false, practice = false, papers = false, footprints = false, ranking = false;
    RankingOptions ranked;
};

/// For all variants: the number of threads, and the vector width of PIPE_TARGET.
Limits limits_of(const Options &options) {
    return {options.threads, Pipe::get_host_target().natural_vector_size<uint8_t>()};
}

apps::Size size_of(const apps::App &app, const Options &options) {
    apps::Size size = app.size;
    if (!options.size.empty() &&
        (std::sscanf(options.size.c_str(), "%dx%d", &size.width, &size.height) != 2 ||
         size.width < 1 || size.height < 1)) {
        throw CLI::ValidationError("--size", "not WIDTHxHEIGHT: " + options.size);
    }
    return size;
}

/// The variants excluded by --without, and the names of all variants.
class LeftOut {
  public:
    explicit LeftOut(const std::vector<std::string> &names) : names_(names) {}

    bool wanted(const std::string &variant) {
        met_.insert(variant);
        return std::find(names_.begin(), names_.end(), variant) == names_.end();
    }
    /// Only the applications know their variants, so the names are checked after measuring.
    void check_names() const {
        for (const std::string &name : names_)
            if (!met_.count(name))
                throw std::runtime_error(
                    fmt::format("--without {}: no variant has this name. There are: {}", name,
                                fmt::join(met_, ", ")));
    }

  private:
    std::vector<std::string> names_;
    std::set<std::string> met_;
};

AppResult measure(const apps::App &app, const Options &options, LeftOut &left_out) {
    const apps::Size size = size_of(app, options);
    progress(app.name + ": making the input");
    const Data data = make_data(app, size);
    size_t bytes = data.output.size_in_bytes();
    for (const Pipe::Buffer<> &input : data.inputs)
        bytes += input.size_in_bytes();

    progress(app.name + ": compiling");
    const Wanted wanted = [&](const std::string &name) { return left_out.wanted(name); };
    AppResult result{&app, size, int64_t(bytes), our_variants(app, data, options.threads, wanted)};
    for (Variant &v : peer_variants(app, data, options.threads, wanted))
        result.variants.push_back(std::move(v));
    check(result.variants, data.output, app.tolerance, [&](int i) {
        progress(fmt::format("{}: comparing {}", app.name, result.variants[size_t(i)].name));
    });
    const size_t count = result.variants.size();
    auto add_ceiling = [&](std::function<void()> run) {
        result.variants.emplace_back();
        result.variants.back().run = std::move(run);
    };
    const Limits limits = limits_of(options);
    add_ceiling(make_copy(result.bytes, limits, false));
    add_ceiling(make_copy(result.bytes, limits, true));
    if (app.flops)
        add_ceiling(make_fmas(app.flops(size), data.output.type().bits(), limits));
    sample(result.variants, options.samples, options.budget_s, [&](int round) {
        progress(round == 0 ? app.name + ": warming up"
                            : fmt::format("{}: round {} of {}", app.name, round, options.samples));
    });
    result.copy_ms = std::min(median(result.variants[count].times_ms),
                              median(result.variants[count + 1].times_ms));
    if (app.flops)
        result.fma_ms = median(result.variants[count + 2].times_ms);
    result.variants.resize(count);
    progress("");
    return result;
}

void write(const std::string &file, const std::string &text) {
    std::ofstream out(file);
    out << text;
    out.close();
    if (!out)
        throw std::runtime_error("cannot write " + file);
    fmt::print("written: {}\n", file);
}

/// The pipelines of apps/practice instead of the applications.
int run_practice(const Options &options) {
    print_practice_header(options.threads);
    std::vector<PracticeResult> results;
    for (const practice::Practice &practice : practice::registry()) {
        if (!options.practices.empty() &&
            std::find(options.practices.begin(), options.practices.end(), practice.name) ==
                options.practices.end())
            continue;
        results.push_back(measure_practice(practice, options.threads, options.samples,
                                           options.budget_s, progress));
        print_practice(results.back());
    }
    fmt::print("\n");
    print_figures(practice_figures(results));
    if (!options.json.empty())
        write(options.json, practice_to_json(options.threads, results).dump(2) + "\n");
    return std::all_of(results.begin(), results.end(), [](const auto &r) { return r.good(); }) ? 0
                                                                                               : 1;
}

/// The published schedulers, on the applications of their papers or those named.
int run_papers(const Options &options) {
    fmt::print("{}, {} threads\n\n", processor(), options.threads);
    std::vector<PapersResult> results;
    for (const apps::App &app : apps::registry()) {
        const bool chosen = options.apps.empty()
                                ? is_in_papers(app)
                                : std::find(options.apps.begin(), options.apps.end(), app.name) !=
                                      options.apps.end();
        if (!chosen)
            continue;
        results.push_back(
            measure_papers(app, size_of(app, options),
                           {options.threads, options.samples, options.budget_s, progress}));
        print_papers(results.back());
    }
    if (!options.json.empty())
        write(options.json, papers_to_json(results).dump(2) + "\n");
    return std::all_of(results.begin(), results.end(), [](const auto &r) { return r.good(); }) ? 0
                                                                                               : 1;
}

/// Schedules of the applications, ranked by prediction and by measurement.
int run_ranking(const Options &options) {
    RankingOptions ranked = options.ranked;
    ranked.threads = options.threads;
    std::vector<Ranking> rankings;
    for (const apps::App &app : apps::registry()) {
        const bool chosen = options.apps.empty() ||
                            std::find(options.apps.begin(), options.apps.end(), app.name) != options.apps.end();
        if (!chosen)
            continue;
        rankings.push_back(rank(app, ranked, progress));
        progress("");
        print_ranking(rankings.back());
    }
    print_summary(rankings);
    if (!options.json.empty())
        write(options.json, to_json(rankings).dump(2) + "\n");
    return 0;
}

int run(const Options &options) {
    if (options.ranking)
        return run_ranking(options);
    if (options.practice)
        return run_practice(options);
    if (options.papers)
        return run_papers(options);
    if (options.footprints) {
        print_footprints();
        return 0;
    }
    if (!options.cold.empty())
        return run_cold(*apps::find_app(options.cold), options.threads);

    progress("measuring the machine");
    const Ceilings ceilings = measure_ceilings(limits_of(options));
    progress("");
    print_ceilings(ceilings);
    std::vector<AppResult> results;
    LeftOut left_out(options.without);
    for (const apps::App &app : apps::registry()) {
        const bool chosen =
            (options.apps.empty() && !options.scaling) ||
            std::find(options.apps.begin(), options.apps.end(), app.name) != options.apps.end();
        if (!chosen)
            continue;
        results.push_back(measure(app, options, left_out));
        print_result(results.back(), ceilings);
        // the closures refer to arrays that no longer exist
        for (Variant &v : results.back().variants)
            v.run = nullptr;
    }
    std::vector<Figure> figures = measure_figures(results, options.threads);
    if (options.apps.empty() || options.scaling) {
        progress("compiling chains of many stages");
        measure_scaling(figures);
        progress("");
    }
    print_figures(figures);
    if (!options.json.empty())
        write(options.json, to_json(ceilings, peer_names(), results, figures).dump(2) + "\n");
    if (!options.markdown.empty())
        write(options.markdown, to_markdown(results));
    if (!results.empty())
        left_out.check_names();
    // A peer may fail; our variants may not.
    const bool good = std::all_of(results.begin(), results.end(), [](const AppResult &r) {
        return std::all_of(r.variants.begin(), r.variants.end(),
                           [](const Variant &v) { return !v.ours || v.failure.empty(); });
    });
    return good ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // results appear at once, in a file, too
    Options options;
    std::vector<std::string> names;
    for (const apps::App &app : apps::registry())
        names.push_back(app.name);

    CLI::App cli{"Measures Pipe's applications, and the peers' where they are installed.\n" +
                 floating_point_flags()};
    cli.add_option("--app", options.apps, "only these applications")->check(CLI::IsMember(names));
    cli.add_option("--without", options.without,
                   "leave these variants out, as naive, which takes minutes in some applications");
    cli.add_flag("--scaling", options.scaling,
                 "how compile time grows with the number of stages; alone: no applications");
    cli.add_flag("--footprints", options.footprints,
                 "instead of the applications, what tiles of fused stages store, beside the tables of "
                 "a paper");
    std::vector<std::string> practices;
    for (const practice::Practice &practice : practice::registry())
        practices.push_back(practice.name);
    const CLI::Option *practice =
        cli.add_option("--practice", options.practices,
                       "instead of the applications, pipelines from practice, or only those named, "
                       "against C++ loops")
            ->check(CLI::IsMember(practices))
            ->expected(0, int(practices.size()));
    cli.add_flag("--papers", options.papers,
                 "the published schedulers against Pipe's, with what the papers print; of their "
                 "applications, or those named by --app");
    cli.add_flag("--ranking", options.ranking,
                 "instead of the peers, many schedules of each application: how well predict() ranks them");
    cli.add_option("--random", options.ranked.random, "--ranking: random schedules of each application")
        ->check(CLI::Range(0, 10000));
    cli.add_option("--show", options.ranked.show,
                   "--ranking: print the source and the prediction of this schedule alone, as \"random 5\"");
    cli.add_option("--hand-ms", options.ranked.hand_ms,
                   "--ranking: sizes are halved until the hand schedule is predicted to take no longer");
    cli.add_option("--json", options.json, "also write the results to this file");
    cli.add_option("--markdown", options.markdown,
                   "also write the table of README.md to this file");
    cli.add_option("--threads", options.threads, "threads of every variant")
        ->check(CLI::Range(1, 1024));
    cli.add_option("--samples", options.samples, "runs of each variant")
        ->check(CLI::Range(3, 10000));
    cli.add_option("--budget", options.budget_s, "seconds at most for one variant's samples");
    cli.add_option("--size", options.size,
                   "WIDTHxHEIGHT of the output instead of the papers' size");
    cli.add_option("--cold", options.cold,
                   "one cold realize of this application, for the benchmark itself")
        ->check(CLI::IsMember(names))
        ->group("");
    CLI11_PARSE(cli, argc, argv);
    options.practice = practice->count() > 0;
    std::erase(options.practices, "");  // the option without a name
    try {
        return run(options);
    } catch (const std::exception &error) {
        fmt::print(stderr, "pipe_bench: {}\n", error.what());
        return 1;
    }
}
