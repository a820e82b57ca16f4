#include "apps/gpu/timing.h"

#include "apps/common/arrays.h"
#include "jit/gpu/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace gpu {

namespace {

double seconds_of(const std::function<void()> &run) {
    const auto start = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void run(const apps::App &app, Schedule schedule, double seconds, Timing &timing) {
    const Pipe::Target target("host-cuda");
    const std::unique_ptr<apps::Program> program = app.make();
    Pipe::Pipeline pipeline(program->output());
    const std::vector<Pipe::Buffer<>> inputs = apps::make_inputs(app, *program, app.size);
    apps::set_inputs(*program, inputs);
    const Pipe::Buffer<> output = apps::make_output(app, *program, app.size);
    if (schedule == Schedule::Hand)
        program->schedule_for_gpu(target);
    else
        pipeline.autoschedule(target);
    for (const Pipe::Buffer<> &input : inputs)
        input.copy_to_device(target);
    output.device_malloc(target);
    auto once = [&] {
        pipeline.realize(output, target);
        output.device_sync();
    };
    time_runs(once, seconds, timing);

    output.copy_to_host();
    compare(app, output, result_of_cpu(app, inputs, app.size), timing);
}

}  // namespace

Pipe::Buffer<> result_of_cpu(const apps::App &app, const std::vector<Pipe::Buffer<>> &inputs,
                             apps::Size size) {
    const std::unique_ptr<apps::Program> program = app.make();
    const Pipe::Target target = Pipe::get_host_target();
    program->schedule_by_hand(target);
    apps::set_inputs(*program, inputs);
    const Pipe::Buffer<> output = apps::make_output(app, *program, size);
    Pipe::Pipeline(program->output()).realize(output, target);
    return output;
}

void time_runs(const std::function<void()> &once, double seconds, Timing &timing) {
    once();  // compiles
    once();

    std::vector<double> times;
    double spent = 0;
    do {
        times.push_back(seconds_of(once));
        spent += times.back();
    } while (times.size() < 101 && (spent < seconds || (times.size() < 5 && spent < 5 * seconds)));
    std::sort(times.begin(), times.end());
    timing.runs = int(times.size());
    timing.median_ms = times[times.size() / 2] * 1e3;
    timing.minimum_ms = times.front() * 1e3;
}

void compare(const apps::App &app, const Pipe::Buffer<> &output, const Pipe::Buffer<> &expected,
             Timing &timing) {
    const double largest = apps::max_abs(expected);
    timing.difference = apps::max_abs_difference(output, expected) / std::max(largest, 1e-30);
    if (timing.difference > app.tolerance)
        timing.failure = fmt::format("differs by {:g} from the result of the CPU, more than {:g}",
                                     timing.difference, app.tolerance);
}

bool has_gpu() {
    return Pipe::host_supports_target_device(Pipe::Target("host-cuda"));
}

std::string name_of_gpu() {
    return Pipe::jit::device_finder(Pipe::Target("host-cuda"))(nullptr).name();
}

Timing time_on_gpu(const apps::App &app, Schedule schedule, double seconds) {
    Timing timing;
    timing.app = app.name;
    timing.variant = schedule == Schedule::Hand ? "hand" : "auto";
    timing.size = app.size;
    try {
        run(app, schedule, seconds, timing);
    } catch (const Pipe::Error &error) {
        timing.failure = error.what();
    }
    return timing;
}

}  // namespace gpu
