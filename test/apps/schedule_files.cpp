// Every application's schedules survive a schedule file: read by a new program, they give the same loops.
#include "apps/common/random_schedule.h"
#include "test/apps/support.h"
#include "test/support/distinct_apps.h"
#include "test/support/temp_folder.h"

#include <algorithm>
#include <memory>
#include <regex>

using namespace app_test;

namespace {

/// A program with a pipeline, and the loops that are compiled of it.
struct DerivedFunc {
    explicit DerivedFunc(const apps::App &app) : program(app.make()), pipeline(program->output()) {
        const apps::Size size = app.small.front();
        apps::set_inputs(*program, apps::make_inputs(app, *program, size));
        // For the sizes of autoschedule().
        const apps::Box box = app.output_box(size);
        std::vector<Pipe::Range> estimates;
        for (const apps::Range &r : box)
            estimates.emplace_back(r.min, r.extent);
        program->output().set_estimates(estimates);
    }

    /// Without source lines, which wrappers that a schedule file makes do not have, and without the
    /// names of loops that the program did not name.
    std::string loops(const Pipe::Target &target) {
        TempFolder folder;
        pipeline.compile_to_lowered_stmt(folder / "loops.txt", pipeline.infer_arguments(),
                                         Pipe::Text, target);
        const std::regex line(" \\([a-z_0-9]+\\.(cpp|h):[0-9]+\\)"),
            unnamed("rv?\\$[0-9]+|#loop[0-9]+");
        return std::regex_replace(std::regex_replace(folder.read("loops.txt"), line, ""), unnamed,
                                  "unnamed");
    }

    std::unique_ptr<apps::Program> program;
    Pipe::Pipeline pipeline;
};

const apps::App &reduced(const apps::App &app) {
    return app.reduced ? *app.reduced : app;
}

/// Saves the schedule, and compares a new program to which it is applied.
void check_round_trip(const apps::App &app, const std::function<void(DerivedFunc &)> &schedule,
                      const Pipe::Target &target = Pipe::get_host_target()) {
    TempFolder folder;
    std::string expected, source;
    {
        DerivedFunc made(app);
        schedule(made);
        if (app.name.starts_with("conv_bn"))
            made.program->output().output_buffer().dim(0).set_min(0);
        made.pipeline.save_schedule(folder / "schedule.json");
        expected = made.loops(target);
        source = made.pipeline.schedule_source();
    }
    INFO(source);
    DerivedFunc made(app);
    if (app.name.starts_with("conv_bn"))  // a promise of the hand schedule, not a directive
        made.program->output().output_buffer().dim(0).set_min(0);
    made.pipeline.apply_schedule(folder / "schedule.json");
    // They are long.
    const std::string loops = made.loops(target);
    const auto [now, before] =
        std::mismatch(loops.begin(), loops.end(), expected.begin(), expected.end());
    auto part = [](const std::string &text, auto at) {
        return text.substr(static_cast<size_t>(at - text.begin()), 200);
    };
    CHECK(part(loops, now) == part(expected, before));
    made.pipeline.save_schedule(folder / "again.json");
    CHECK(folder.read("again.json") == folder.read("schedule.json"));
}

}  // namespace

TEST_CASE("every application's schedules survive a file", "[schedule_file]") {
    for (const apps::App *entry : distinct_apps()) {
        const apps::App &app = reduced(*entry);
        if (app.small.empty())
            continue;
        for (Way way : {Way::Hand, Way::Auto})
            DYNAMIC_SECTION(app.name << " " << name_of(way)) {
                check_round_trip(app, [&](DerivedFunc &made) {
                    app_test::schedule(*made.program, made.pipeline, way);
                });
            }
    }
}

TEST_CASE("the applications' schedules for GPUs survive a file", "[schedule_file]") {
    const Pipe::Target gpu = Pipe::get_host_target().with_feature(Pipe::Target::CUDAEmulator);
    for (const apps::App *entry : distinct_apps()) {
        const apps::App &app = reduced(*entry);
        if (!app.small.empty())
            DYNAMIC_SECTION(app.name) {
                check_round_trip(
                    app, [&](DerivedFunc &made) { made.program->schedule_for_gpu(gpu); }, gpu);
            }
    }
}

TEST_CASE("random schedules of applications survive a file", "[schedule_file]") {
    for (const char *name : {"unsharp", "harris", "bilateral_grid_a", "max_filter", "gemver"}) {
        const apps::App &app = reduced(app_named(name));
        for (uint64_t seed = 1; seed <= 4; seed++)
            DYNAMIC_SECTION(name << " " << seed) {
                try {
                    check_round_trip(app, [&](DerivedFunc &made) {
                        apps::schedule_at_random(*made.program, made.pipeline,
                                                 Pipe::get_host_target(), apps::Taste::Any, seed);
                        made.loops(Pipe::get_host_target());
                    });
                } catch (const Pipe::CompileError &) {
                    SUCCEED("not a legal schedule");
                }
            }
    }
}
