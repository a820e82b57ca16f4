// Random schedules survive a schedule file: applied to the Funcs again, they give the same loops.
#include <iterator>

#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "fuzz/algorithm.h"
#include "fuzz/generator.h"
#include "fuzz/schedule.h"
#include "fuzz/seeds.h"
#include "support/temp_folder.h"

using namespace Pipe;
using namespace Pipe::fuzz;

namespace {

std::vector<Box> random_boxes(const Algorithm &algorithm, Choices &c) {
    std::vector<Box> boxes;
    for (int output : algorithm.outputs) {
        Box &box = boxes.emplace_back();
        for (int d = 0; d < algorithm.sources[static_cast<size_t>(output)].dimensions; d++)
            box.push_back({0, c.between(1, 40) - 1});
    }
    return boxes;
}

/// One random schedule. False where it is refused, so that there is nothing to compare.
bool survives(uint64_t seed, const TempFolder &folder) {
    Choices c(seed);
    const Mode modes[] = {Mode::Manual, Mode::Auto, Mode::AutoWithDirectives, Mode::GPU};
    const Mode mode = modes[seed % 4];
    const Target target = mode == Mode::GPU ? get_host_target().with_feature(Target::CUDAEmulator)
                                            : get_host_target();
    AutoscheduleOptions options;
    options.strategy =
        AutoscheduleOptions::strategies[seed / 4 % std::size(AutoscheduleOptions::strategies)];
    options.l1_bytes = 1 << 9;
    options.l2_bytes = 1 << 12;
    const Algorithm algorithm = generate(c);
    Algorithm scheduled = algorithm;
    std::vector<Func> outputs;
    for (int output : algorithm.outputs)
        outputs.push_back(algorithm.sources[static_cast<size_t>(output)].func);
    Pipeline pipeline(outputs);
    auto loops = [&](const char *name) {
        pipeline.compile_to_lowered_stmt(folder / name, pipeline.infer_arguments(), Text, target);
        return folder.read(name);
    };
    std::string before;
    try {
        std::vector<Box> sizes = random_boxes(algorithm, c);
        const ScheduleInfo info = give_schedule(scheduled, mode, Rules::Legal, sizes, c);
        if (mode == Mode::Auto || mode == Mode::AutoWithDirectives)
            pipeline.autoschedule(target, options);
        before = loops("before.txt");
    } catch (const CompileError &) {
        return false;
    }
    const std::string source = pipeline.schedule_source();
    INFO("PIPE_FUZZ_SEED=" << seed << "\n" << source);
    pipeline.save_schedule(folder / "schedule.json");
    pipeline.apply_schedule(folder / "schedule.json");
    CHECK(loops("after.txt") == before);
    pipeline.save_schedule(folder / "again.json");
    CHECK(folder.read("again.json") == folder.read("schedule.json"));
    return true;
}

}  // namespace

TEST_CASE("random schedules survive a file", "[fuzz][schedule_file]") {
    TempFolder folder;
    int compared = 0;
    const std::vector<uint64_t> all = every_nth_seed(3);
    for (uint64_t seed : all)
        compared += survives(seed, folder);
    if (static_cast<int>(all.size()) >= usual_pipelines / 3)
        CHECK(compared * 2 > static_cast<int>(all.size()));
}
