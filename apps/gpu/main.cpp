// pipe_gpu: what is known of the applications' kernels without a GPU; with one, also their times.
#include "apps/gpu/peers.h"
#include "apps/gpu/ptx.h"
#include "apps/gpu/timing.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>

using namespace gpu;

namespace {

struct Options {
    std::vector<std::string> apps;
    std::string json;
    bool only_static = false, only_times = false, automatic = false;
    double minutes = 6;  ///< for all times
};

/// A number, or "-" where it is not known.
std::string known(double value, const char *format) {
    return value < 0 ? "-" : fmt::format(fmt::runtime(format), value);
}

void print_header() {
    fmt::print(
        "{:24} {:4} {:>11} {:>7} {:>9} {:>10} {:>7} {:>5} {:>6} {:>8} {:>9} {:>9} {:>7} {:>7}\n",
        "app", "", "size", "kernels", "sectors/p", "compulsory", "shared", "regs", "spills",
        "barriers", "occupancy", "search ms", "ptx ms", "cpu ms");
}

void print(const Figures &f) {
    const std::string size = fmt::format("{}x{}", f.size.width, f.size.height);
    if (!f.failure.empty()) {
        fmt::print("{:24} {:4} {:>11} {}\n", f.app, f.variant, size, f.failure);
        return;
    }
    fmt::print("{:24} {:4} {:>11} {:>7} {:>9.3f} {:>10.3f} {:>7} {:>5} {:>6} {:>8.1f} {:>9} {:>9} "
               "{:>7} {:>7}\n",
               f.app, f.variant, size, f.kernels, f.sectors_per_pixel, f.compulsory_sectors,
               f.shared_bytes, known(f.registers, "{:.0f}"), known(double(f.spill_bytes), "{:.0f}"),
               f.barriers, known(f.occupancy, "{:.2f}"), known(f.search_ms, "{:.0f}"),
               known(f.ptx_ms, "{:.0f}"), known(f.cpu_ms, "{:.0f}"));
}

/// Of the bandwidth of a copy, what the data that have to be moved take at least. Negative: not known.
double share_of_copy(const Timing &t, const Limits &limits) {
    if (t.device_ms <= 0 || limits.copy_gigabytes_per_second <= 0)
        return -1;
    return t.gigabytes / (t.device_ms / 1e3) / limits.copy_gigabytes_per_second;
}

void print(const Timing &t, const Limits &limits) {
    fmt::print("{:24} {:26} {:>5}x{:<5} {:>10} {:>10} {:>8} {:>10}  {}\n", t.app, t.variant,
               t.size.width, t.size.height, known(t.device_ms, "{:.4f}"),
               known(t.call_ms, "{:.4f}"), known(share_of_copy(t, limits), "{:.2f}"),
               known(t.first_call_ms, "{:.0f}"), t.failure);
}

void print(const Limits &limits) {
    fmt::print("A copy within the device: {} GB/s, read and written\n",
               known(limits.copy_gigabytes_per_second, "{:.0f}"));
    for (const Limits::Overhead &o : limits.overheads)
        fmt::print("realize with {:>2} small kernels: {:.1f} us until it returns, {:.1f} us until "
                   "the device has finished\n",
                   o.kernels, o.submit_us, o.call_us);
}

/// null for what is not known.
nlohmann::json number(double value) {
    return value < 0 ? nlohmann::json() : nlohmann::json(value);
}

nlohmann::json to_json(const Figures &f) {
    nlohmann::json row = {{"app", f.app},
                          {"variant", f.variant},
                          {"size", {f.size.width, f.size.height}},
                          {"kernels", f.kernels},
                          {"sectors_per_pixel", f.sectors_per_pixel},
                          {"compulsory_sectors", f.compulsory_sectors},
                          {"shared_bytes", f.shared_bytes},
                          {"registers", number(f.registers)},
                          {"spill_bytes", number(double(f.spill_bytes))},
                          {"stack_bytes", number(double(f.stack_bytes))},
                          {"barriers", f.barriers},
                          {"occupancy", number(f.occupancy)},
                          {"search_ms", number(f.search_ms)},
                          {"ptx_ms", number(f.ptx_ms)},
                          {"cpu_ms", number(f.cpu_ms)}};
    if (!f.failure.empty())
        row["failure"] = f.failure;
    return row;
}

nlohmann::json to_json(const Timing &t) {
    nlohmann::json row = {{"app", t.app},
                          {"variant", t.variant},
                          {"size", {t.size.width, t.size.height}},
                          {"device_ms", number(t.device_ms)},
                          {"call_ms", number(t.call_ms)},
                          {"first_call_ms", number(t.first_call_ms)},
                          {"gigabytes", t.gigabytes},
                          {"runs", t.runs},
                          {"difference", number(t.difference)}};
    if (!t.failure.empty())
        row["failure"] = t.failure;
    return row;
}

nlohmann::json to_json(const Limits &limits) {
    nlohmann::json overheads = nlohmann::json::array();
    for (const Limits::Overhead &o : limits.overheads)
        overheads.push_back(
            {{"kernels", o.kernels}, {"submit_us", o.submit_us}, {"call_us", o.call_us}});
    return {{"copy_gigabytes_per_second", number(limits.copy_gigabytes_per_second)},
            {"overheads", overheads}};
}

std::vector<const apps::App *> chosen_apps(const Options &options) {
    std::vector<const apps::App *> chosen;
    for (const apps::App &app : apps::registry())
        if (!emulated_form(app).small.empty() &&
            (options.apps.empty() ||
             std::find(options.apps.begin(), options.apps.end(), app.name) != options.apps.end()))
            chosen.push_back(&app);
    return chosen;
}

std::vector<Way> chosen_ways(const Options &options) {
    return options.automatic ? std::vector{Way::GPU, Way::Auto} : std::vector{Way::GPU};
}

nlohmann::json print_figures(const std::vector<const apps::App *> &apps, const Options &options) {
    fmt::print("Counted by the emulator; registers, spills and occupancy for sm_80 (A100){}\n\n",
               find_ptxas().empty() ? ": ptxas is not installed" : "");
    print_header();
    nlohmann::json rows = nlohmann::json::array();
    double logarithms = 0;
    int compared = 0;
    for (const apps::App *app : apps)
        for (Way way : chosen_ways(options)) {
            const Figures figures = measure(*app, way);
            print(figures);
            rows.push_back(to_json(figures));
            if (figures.ptx_ms <= 0 || figures.cpu_ms <= 0)
                continue;
            logarithms += std::log(figures.ptx_ms / figures.cpu_ms);
            compared++;
        }
    if (compared > 0)
        fmt::print("\nptx ms: from the loops to PTX; cpu ms: to machine code for this CPU, under "
                   "the hand schedule for CPUs. "
                   "ptx / cpu, geometric mean: {:.2f}\n",
                   std::exp(logarithms / compared));
    return rows;
}

/// The largest pictures that the papers have, and one that no cache holds.
std::vector<apps::App> timed_apps(const std::vector<const apps::App *> &apps) {
    std::vector<apps::App> timed;
    for (const apps::App *app : apps) {
        timed.push_back(*app);
        if (app->name != "blur_float")
            continue;
        timed.push_back(*app);
        timed.back().size = {8192, 8192};
    }
    return timed;
}

/// The applications in turn, until the time is over.
nlohmann::json print_times(const std::vector<apps::App> &apps, const Limits &limits,
                           const Options &options) {
    fmt::print("\n{:24} {:26} {:>11} {:>10} {:>10} {:>8} {:>10}\n", "app", "", "size", "device ms",
               "call ms", "of copy", "first call");
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(60 * options.minutes);
    nlohmann::json rows = nlohmann::json::array();
    auto add = [&](const Timing &timing) {
        print(timing, limits);
        rows.push_back(to_json(timing));
    };
    for (const apps::App &app : apps) {
        for (Way way : chosen_ways(options)) {
            if (std::chrono::steady_clock::now() > end) {
                fmt::print("The {} minutes are over: {} and what follows are not measured. See "
                           "--app, --minutes.\n",
                           options.minutes, app.name);
                return rows;
            }
            add(time_on_gpu(app, way, 0.3));
        }
        for (const Timing &timing : time_peers_on_gpu(app, 0.3))
            add(timing);
    }
    return rows;
}

nlohmann::json print_measured(const std::vector<const apps::App *> &apps, const Options &options) {
    fmt::print(
        "\n{}. With Target::FastMath. Inputs and outputs are on the device. device ms: of one run "
        "among many in a "
        "stream;\ncall ms: of one call, until the device has finished; of copy: the share of "
        "a copy's bandwidth\nthat reading the inputs and writing the output once is.\n\n",
        name_of_gpu());
    const Limits limits = measure_limits();
    print(limits);
    return {{"gpu", name_of_gpu()},
            {"limits", to_json(limits)},
            {"times", print_times(timed_apps(apps), limits, options)}};
}

int run(const Options &options) {
    const std::vector<const apps::App *> apps = chosen_apps(options);
    nlohmann::json report;
    if (!options.only_times)
        report["figures"] = print_figures(apps, options);
    if (!options.only_static && has_gpu())
        report["measured"] = print_measured(apps, options);
    else
        fmt::print("\nNo GPU: nothing was run on one.\n");
    if (options.json.empty())
        return 0;
    std::ofstream out(options.json);
    out << report.dump(2) << "\n";
    out.close();
    if (!out)
        throw std::runtime_error("cannot write " + options.json);
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // what is measured is seen, in a file too
    Options options;
    std::vector<std::string> names;
    for (const apps::App &app : apps::registry())
        names.push_back(app.name);
    CLI::App cli{"The kernels of Pipe's applications: what the emulator and ptxas say of them, "
                 "and, with a GPU, times."};
    cli.add_option("--app", options.apps, "only these applications")->check(CLI::IsMember(names));
    cli.add_option("--json", options.json, "also write the rows to this file");
    cli.add_option("--minutes", options.minutes, "at most, for the times");
    cli.add_flag("--auto", options.automatic, "also the schedules of the autoscheduler");
    CLI::Option *only_static =
        cli.add_flag("--static", options.only_static, "no times, even with a GPU");
    cli.add_flag("--times", options.only_times, "only times")->excludes(only_static);
    CLI11_PARSE(cli, argc, argv);
    try {
        return run(options);
    } catch (const std::exception &error) {
        fmt::print(stderr, "pipe_gpu: {}\n", error.what());
        return 1;
    }
}
