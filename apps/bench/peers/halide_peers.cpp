// Builds the peers: every application of the registry as a Halide program, under our hand schedule
// and under each of Halide's autoschedulers, compiled ahead of time to object files. For a target with
// CUDA: under the GPU schedule of Halide's own application, and under Halide's autoscheduler for GPUs.
//
//   halide_peers build DIR PLUGINS THREADS [APP...]
//                                            all variants of these applications (default: of all)
//                                            -> DIR/libpeer_objects.a, DIR/table.inc
//   halide_peers emit APP VARIANT PREFIX PLUGINS THREADS
//                                            one variant -> PREFIX.o, PREFIX.status
//   halide_peers jit APP                     prints the milliseconds of lowering and of LLVM
//
// The environment variable PIPE_TARGET names the target as it does for Pipe; the default is this machine.
//
// `build` runs each `emit` as a process of its own under a limit of time and of memory, since an
// autoscheduler may abort, run for minutes or ask for more memory than there is. What went wrong is
// written to the table, so that the benchmark can say it. A build that was interrupted goes on where
// it was.
#include "apps/bench/cache_size.h"
#include "apps/bench/peers/halide_gpu_schedules.h"
#include "apps/common/registry.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace apps;

namespace {

constexpr rlim_t time_limit_s = 120;  // of processor time: a busy machine must not change the table
constexpr unsigned waiting_limit_s = 3600;  // for one that sleeps
constexpr rlim_t memory_limit = rlim_t(8) << 30;
const char *const multiprocessors = "132";  // of an H100

const std::vector<std::string> cpu_variants = {"halide-hand", "halide-mullapudi2016",
                                               "halide-mullapudi2016-defaults", "halide-adams2019"};
const std::vector<std::string> gpu_variants = {"halide-hand", "halide-anderson2021",
                                               "halide-anderson2021-greedy"};

double milliseconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

template <typename F> double milliseconds(F &&f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    return milliseconds_since(start);
}

/// The target of both compilers: Pipe's feature names are Halide's.
Halide::Target target() {
    const char *name = std::getenv("PIPE_TARGET");
    return name && *name ? Halide::Target(name) : Halide::get_host_target();
}

std::string symbol(const std::string &app, std::string variant) {
    std::replace(variant.begin(), variant.end(), '-', '_');
    return "pipe_peer_" + app + "_" + variant;
}

void set_estimates(const App &app, Program &program) {
    auto region = [](const Box &box) {
        Halide::Region r;
        for (Range range : box)
            r.push_back({range.min, range.extent});
        return r;
    };
    program.output().set_estimates(region(app.output_box(app.size)));
    for (size_t i = 0; i < program.inputs.size(); ++i) {
        program.inputs[i].set_estimates(region(app.inputs[i].box(app.size)));
    }
}

struct Autoscheduler {
    std::string name;
    std::map<std::string, std::string> params;
};

Autoscheduler autoscheduler(const std::string &variant, const std::string &threads) {
    if (variant == "halide-mullapudi2016") {
        const int64_t last_level = bench::cache_bytes(3, bench::cache_bytes(2, 16 << 20));
        return {"Mullapudi2016",
                {{"parallelism", threads}, {"last_level_cache_size", std::to_string(last_level)}}};
    }
    if (variant == "halide-mullapudi2016-defaults")
        return {"Mullapudi2016", {}};
    // With the default size of the beam, the search of a large program takes too long, or too much memory.
    if (variant.starts_with("halide-anderson2021")) {
        return {"Anderson2021",
                {{"parallelism", multiprocessors},
                 {"random_dropout_seed", "1"},
                 {"beam_size", variant.ends_with("greedy") ? "1" : "32"}}};
    }
    return {"Adams2019", {{"parallelism", threads}, {"beam_size", "32"}}};
}

void apply(const Autoscheduler &scheduler, Halide::Pipeline &pipeline, const Halide::Target &target,
           const std::string &plugins) {
    std::string library = scheduler.name;
    std::transform(library.begin(), library.end(), library.begin(), ::tolower);
    Halide::load_plugin(plugins + "/libautoschedule_" + library + ".so");
#if HALIDE_VERSION_MAJOR >= 15
    pipeline.apply_autoscheduler(target, {scheduler.name, scheduler.params});
#else
    auto param = [&](const std::string &key, const std::string &otherwise) {
        const auto found = scheduler.params.find(key);
        return std::stoull(found == scheduler.params.end() ? otherwise : found->second);
    };
    if (scheduler.params.count("beam_size"))
        setenv("HL_BEAM_SIZE", "32", 1);
    pipeline.auto_schedule(scheduler.name, target,
                           Halide::MachineParams(int(param("parallelism", "16")),
                                                 param("last_level_cache_size", "16777216"), 40));
#endif
}

std::vector<Halide::Argument> arguments(Program &program) {
    return {program.inputs.begin(), program.inputs.end()};
}

int emit(const App &app, const std::string &variant, const std::string &prefix,
         const std::string &plugins, const std::string &threads) {
    const Halide::Target target = ::target();
    std::unique_ptr<Program> program = app.make();
    Halide::Pipeline pipeline(program->output());

    double schedule_ms = 0;
    if (variant == "halide-hand" && target.has_gpu_feature()) {
        if (!schedule_as_halide_does(*program)) {
            std::cerr << "there is no such application in Halide's repository\n";
            return 1;
        }
    } else if (variant == "halide-hand") {
        schedule_ms = milliseconds([&] { program->schedule_by_hand(target); });
    } else {
        set_estimates(app, *program);
        schedule_ms = milliseconds(
            [&] { apply(autoscheduler(variant, threads), pipeline, target, plugins); });
    }

    const auto start = std::chrono::steady_clock::now();
    Halide::Module module =
        pipeline.compile_to_module(arguments(*program), symbol(app.name, variant),
                                   target.with_feature(Halide::Target::NoRuntime));
    const double lower_ms = milliseconds_since(start);
    const double llvm_ms = milliseconds([&] {
        module.compile({{Halide::OutputFileType::object, prefix + ".o"}});
    });
    std::ofstream(prefix + ".status") << schedule_ms << ", " << lower_ms << ", " << llvm_ms;
    return 0;
}

/// The last line of a file that says something, quoted for C.
std::string last_line(const std::string &path) {
    std::ifstream in(path);
    std::string line, last;
    while (std::getline(in, line)) {
        if (!line.empty())
            last = line;
    }
    std::erase_if(last, [](unsigned char c) { return c == '"' || c == '\\' || c < ' '; });
    return last.substr(0, 120);
}

/// One variant of one application, compiled by a process of its own.
struct Job {
    const App *app;
    std::string variant, name, prefix;
    pid_t child = 0;
};

/// Starts this program with `args` under the limits.
pid_t start_limited(const std::vector<std::string> &args, const std::string &log) {
    const pid_t child = fork();
    if (child != 0)
        return child;
    const rlimit memory{memory_limit, memory_limit};
    setrlimit(RLIMIT_AS, &memory);
    const rlimit time{time_limit_s, time_limit_s + 1};
    setrlimit(RLIMIT_CPU, &time);
    alarm(waiting_limit_s);
    if (!freopen(log.c_str(), "w", stderr) || !freopen("/dev/null", "w", stdout))
        _exit(126);
    std::vector<char *> argv;
    for (const std::string &arg : args)
        argv.push_back(const_cast<char *>(arg.c_str()));
    argv.push_back(nullptr);
    execv("/proc/self/exe", argv.data());
    _exit(127);
}

/// Empty or what went wrong.
std::string failure_of(int status, const std::string &log) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return "";
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        return "not finished after " + std::to_string(time_limit_s) + " s of processor time";
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return "not finished after " + std::to_string(waiting_limit_s) + " s";
    const std::string said = last_line(log);
    return "failed" + (said.empty() ? "" : ": " + said);
}

/// The line of the table; empty if the job has to be done. Made by an earlier build of the same
/// program that was interrupted.
std::string finished(const Job &job) {
    namespace fs = std::filesystem;
    const fs::path row = job.prefix + ".row";
    if (!fs::exists(row) || fs::last_write_time(row) < fs::last_write_time("/proc/self/exe"))
        return "";
    std::ifstream in(row);
    std::string line;
    std::getline(in, line);
    return line;
}

void finish(const Job &job, int status) {
    const std::string failure = failure_of(status, job.prefix + ".log");
    std::ifstream in(job.prefix + ".status");
    std::string times;
    std::getline(in, times);
    std::ofstream row(job.prefix + ".row");
    row << "{\"" << job.app->name << "\", \"" << job.variant << "\", ";
    if (failure.empty())
        row << job.name << "_argv, " << times << ", \"\"},\n";
    else
        row << "nullptr, 0, 0, 0, \"" << failure << "\"},\n";
    std::cerr << job.app->name << " " << job.variant << ": " << (failure.empty() ? "ok" : failure)
              << "\n";
}

/// As many jobs at a time as there are threads.
void run_all(std::vector<Job> &jobs, const std::string &plugins, const std::string &threads) {
    size_t next = 0, running = 0;
    const size_t most = std::max(1, std::atoi(threads.c_str()));
    while (next < jobs.size() || running > 0) {
        for (; next < jobs.size() && running < most; next++) {
            Job &job = jobs[next];
            if (!finished(job).empty())
                continue;
            std::remove((job.prefix + ".status").c_str());
            job.child = start_limited(
                {"halide_peers", "emit", job.app->name, job.variant, job.prefix, plugins, threads},
                job.prefix + ".log");
            running++;
        }
        if (running == 0)
            break;
        int status = 0;
        const pid_t ended = wait(&status);
        for (const Job &job : jobs) {
            if (job.child == ended)
                finish(job, status);
        }
        running--;
    }
}

int build(const std::string &dir, const std::string &plugins, const std::string &threads,
          const std::vector<std::string> &chosen) {
    std::vector<Job> jobs;
    const auto &variants = target().has_gpu_feature() ? gpu_variants : cpu_variants;
    for (const App &app : registry()) {
        const bool wanted =
            chosen.empty() || std::find(chosen.begin(), chosen.end(), app.name) != chosen.end();
        for (const std::string &variant : variants) {
            const std::string name = symbol(app.name, variant);
            const Job job{&app, variant, name, dir + "/" + name};
            if (wanted || !finished(job).empty())
                jobs.push_back(job);
        }
    }
    run_all(jobs, plugins, threads);
    std::vector<std::string> objects;
    std::ostringstream declarations, rows;
    for (const Job &job : jobs) {
        const std::string row = finished(job);
        rows << row << "\n";
        if (row.find("nullptr") != std::string::npos)
            continue;
        declarations << "extern \"C\" int " << job.name << "_argv(void **);\n";
        objects.push_back(job.prefix + ".o");
    }
    objects.push_back(dir + "/runtime.o");
    Halide::compile_standalone_runtime(objects.back(), target());
    Halide::create_static_library(objects, target(), dir + "/libpeer_objects.a");
    std::ofstream(dir + "/table.inc") << declarations.str() << "static const Row rows[] = {\n"
                                      << rows.str() << "};\n";
    return 0;
}

/// What a user of Halide's JIT waits for under our hand schedule: lowering alone is timed apart and
/// taken off the whole. The median of five, after one that loads everything.
int jit(const App &app) {
    const Halide::Target target = ::target();
    std::vector<double> lower, whole;
    for (int i = 0; i < 6; ++i) {
        std::unique_ptr<Program> program = app.make();
        program->schedule_by_hand(target);
        Halide::Pipeline pipeline(program->output());
        const double lower_ms = milliseconds([&] {
            pipeline.compile_to_module(arguments(*program), symbol(app.name, "jit"), target);
        });
        std::unique_ptr<Program> fresh = app.make();
        fresh->schedule_by_hand(target);
        const double whole_ms =
            milliseconds([&] { Halide::Pipeline(fresh->output()).compile_jit(target); });
        if (i == 0)
            continue;
        lower.push_back(lower_ms);
        whole.push_back(whole_ms);
    }
    std::sort(lower.begin(), lower.end());
    std::sort(whole.begin(), whole.end());
    std::cout << lower[2] << " " << whole[2] - lower[2] << "\n";
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    const std::vector<std::string> args(argv + 1, argv + argc);
    const std::string command = args.empty() ? "" : args[0];
    if (command == "build" && args.size() >= 4)
        return build(args[1], args[2], args[3], {args.begin() + 4, args.end()});
    if (command == "emit" && args.size() == 6 && find_app(args[1])) {
        return emit(*find_app(args[1]), args[2], args[3], args[4], args[5]);
    }
    if (command == "jit" && args.size() == 2 && find_app(args[1]))
        return jit(*find_app(args[1]));
    std::cerr << "usage: halide_peers build DIR PLUGINS THREADS [APP...] | emit APP VARIANT PREFIX "
                 "PLUGINS "
                 "THREADS | jit APP\n";
    return 2;
}
