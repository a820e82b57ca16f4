#include "apps/gpu/figures.h"

#include "apps/common/arrays.h"
#include "apps/gpu/ptx.h"
#include "apps/gpu/temporary_file.h"
#include "jit/runtime/gpu/emulator.h"

#include <algorithm>
#include <chrono>
#include <map>

namespace gpu {

namespace {

using Pipe::runtime::EmulatorCounters;

constexpr int a100 = 80;

Pipe::Target emulator() {
    return Pipe::Target("host-cuda_emulator");
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

/// A program under one of the schedules of the target.
struct Scheduled {
    Scheduled(const apps::App &app, Way way, apps::Size size, const Pipe::Target &target)
        : program(app.make()), pipeline(program->output()) {
        if (way == Way::Auto)
            choose(app);
        else
            target.has_gpu_feature() ? program->schedule_for_gpu(target)
                                     : program->schedule_by_hand(target);
        apps::set_inputs(*program, apps::make_inputs(app, *program, size));
    }

    /// The schedule of the size that matters, of its output and of its inputs; also where it then runs on other sizes, for
    /// which another one would be chosen.
    void choose(const apps::App &app) {
        apps::set_inputs(*program, apps::make_inputs(app, *program, app.size));
        Pipe::Func output = program->output();
        const apps::Box box = app.output_box(app.size);
        for (size_t d = 0; d < box.size(); ++d)
            output.set_estimate(output.args()[d], box[d].min, box[d].extent);
        const auto start = std::chrono::steady_clock::now();
        pipeline.apply_autoscheduler(emulator());  // whose plans are those for an A100
        search_ms = milliseconds_since(start);
        const TemporaryFile schedule;
        pipeline.save_schedule(schedule.path());
        pipeline.apply_schedule(schedule.path());
    }

    std::unique_ptr<apps::Program> program;
    Pipe::Pipeline pipeline;
    double search_ms = -1;
};

/// Fills in what the emulator counts. The threads of a block, and the shared memory, of each kernel.
std::map<std::string, EmulatorCounters> count(const apps::App &app, Way way, Figures &figures) {
    const Pipe::Target target = emulator();
    Scheduled s(app, way, figures.size, target);
    figures.search_ms = s.search_ms;
    const Pipe::Buffer<> output = apps::make_output(app, *s.program, figures.size);
    s.pipeline.realize(output, target);  // the first one may find that the size needs other code
    Pipe::runtime::emulated_device().start_counting();
    s.pipeline.realize(output, target);
    std::map<std::string, EmulatorCounters> kernels;
    const double points = double(figures.size.width) * figures.size.height;
    for (const EmulatorCounters &launch : Pipe::runtime::emulated_device().stop_counting()) {
        figures.kernels++;
        figures.sectors_per_pixel += double(launch.sectors()) / points;
        figures.compulsory_sectors += double(launch.compulsory_sectors) / points;
        figures.shared_bytes = std::max(figures.shared_bytes, launch.shared_bytes);
        figures.barriers += double(launch.barriers()) /
                            (double(launch.blocks[0]) * launch.blocks[1] * launch.blocks[2]);
        kernels.emplace(launch.kernel, launch);
    }
    return kernels;
}

/// Milliseconds of compiling for the CPU, under the hand schedule for it.
double time_of_cpu_code(const apps::App &app, apps::Size size) {
    const Scheduled s(app, Way::GPU, size, Pipe::get_host_target());
    const auto start = std::chrono::steady_clock::now();
    compile_for_cpu(s.program->output());
    return milliseconds_since(start);
}

/// Fills in what ptxas says.
void assemble(const apps::App &app, Way way,
              const std::map<std::string, EmulatorCounters> &launches, Figures &figures) {
    const Pipe::Target target = target_of(a100);
    const Scheduled s(app, way, figures.size, target);
    const auto start = std::chrono::steady_clock::now();
    const std::string ptx = ptx_of(s.program->output(), target);
    figures.ptx_ms = milliseconds_since(start);
    if (ptx.empty())
        figures.failure = "runs on the host alone";
    if (way == Way::GPU)
        figures.cpu_ms = time_of_cpu_code(app, figures.size);
    if (ptx.empty() || find_ptxas().empty())
        return;
    figures.spill_bytes = figures.stack_bytes = 0;
    for (const Kernel &kernel : gpu::assemble(ptx, a100)) {
        figures.registers = std::max(figures.registers, kernel.registers);
        figures.spill_bytes += kernel.spilled_bytes;
        figures.stack_bytes += kernel.stack_bytes;
        auto launch = launches.find(kernel.name);
        if (launch == launches.end())
            continue;
        const auto &threads = launch->second.threads;
        const double share = occupancy(threads[0] * threads[1] * threads[2], kernel.registers,
                                       launch->second.shared_bytes);
        figures.occupancy = figures.occupancy < 0 ? share : std::min(figures.occupancy, share);
    }
}

}  // namespace

const apps::App &emulated_form(const apps::App &app) {
    return app.reduced ? *app.reduced : app;
}

apps::Size emulated_size(const apps::App &app) {
    const apps::App &form = emulated_form(app);
    if (form.counted.width > 0)
        return form.counted;
    const apps::Size largest =
        *std::max_element(form.small.begin(), form.small.end(), [](apps::Size a, apps::Size b) {
            return a.width * a.height < b.width * b.height;
        });
    return largest.width >= 100 ? apps::Size{256, 128} : largest;
}

Figures measure(const apps::App &app, Way way) {
    Figures figures;
    figures.app = app.name;
    figures.variant = way == Way::Auto ? "auto" : "hand";
    figures.size = emulated_size(app);
    try {
        const apps::App &form = emulated_form(app);
        assemble(form, way, count(form, way, figures), figures);
    } catch (const Pipe::Error &error) {
        figures.failure = error.what();
    }
    return figures;
}

}  // namespace gpu
