#include "apps/common/demo.h"

#include "apps/common/arrays.h"
#include "apps/common/picture.h"
#include "apps/common/way.h"

#include <pipe/image_io.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>

#include <unistd.h>

namespace apps {
namespace {

using Pipe::Buffer;

double milliseconds(const std::function<void()> &work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

/// Median of as many runs as fit into half a second, at most 30.
double median_run(const std::function<void()> &run) {
    std::vector<double> times = {milliseconds(run)};
    const int runs = std::clamp(int(500 / times[0]), 1, 30);
    for (int i = 1; i < runs; ++i)
        times.push_back(milliseconds(run));
    std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
    return times[size_t(runs / 2)];
}

/// Any picture as float 0..1 with three channels.
Buffer<float> photograph(const Buffer<> &picture) {
    Buffer<float> image = Pipe::convert_image(picture, Pipe::Float(32));
    if (image.dimensions() == 2)
        image.embed(2);
    const int channels = int(image.dim(2).extent());
    return make_planes({{0, image.dim(0).extent(), 0}, {0, image.dim(1).extent(), 0}, {0, 3, 0}},
                       [&](int x, int y, int c) { return image(x, y, channels < 3 ? 0 : c); });
}

/// The picture (x, y) if it may be raw data: 16 bits in one channel.
std::optional<Buffer<uint16_t>> raw_data(const Buffer<> &picture) {
    if (picture.type() != Pipe::UInt(16) || picture.dimensions() != 2)
        return std::nullopt;
    return picture.as<uint16_t>();
}

/// The output size that an input of this shape allows.
Size output_size(const App &app, const Buffer<> &input) {
    const Box one = app.inputs.at(0).box({1, 1});
    return {int(input.dim(0).extent()) - one[0].extent + 1,
            int(input.dim(1).extent()) - one[1].extent + 1};
}

/// One schedule of an application with its inputs, compiled by the first run.
struct Runner {
    Runner(const App &app, const std::vector<Inputs> &runs, std::optional<Size> size, Way way,
           const Pipe::Target &where)
        : target(where), program(app.make()), pipeline(program->output()), inputs(runs) {
        for (const Inputs &input : inputs) {
            outputs.push_back(
                make_output(app, *program, size ? *size : output_size(app, input.at(0))));
        }
        schedule(*program, pipeline, way, target);
        const double compiling_and_running = milliseconds([&] { run(0); });
        const Pipe::CompileTimes compiling = pipeline.compile_times();
        first_run_ms = compiling_and_running -
                       (compiling.schedule_ms + compiling.lower_ms + compiling.llvm_ms);
        for (size_t i = 1; i < inputs.size(); ++i)
            run(i);
    }

    void run(size_t i) {
        set_inputs(*program, inputs[i]);
        pipeline.realize(outputs[i], target);
    }

    Pipe::Target target;
    std::unique_ptr<Program> program;
    Pipe::Pipeline pipeline;
    std::vector<Inputs> inputs;
    std::vector<Buffer<>> outputs;
    double first_run_ms = 0;
};

void print_indented(const std::string &text) {
    size_t start = 0;
    while (start < text.size()) {
        const size_t end = std::min(text.find('\n', start), text.size());
        std::printf("    %s\n", text.substr(start, end - start).c_str());
        start = end + 1;
    }
}

/// Floats as 8 bits, clamped, for display.
void save_as_bytes(const Buffer<> &picture, const std::string &path) {
    const bool floats = picture.type().is_float();
    Pipe::save_image(floats ? Pipe::convert_image(picture, Pipe::UInt(8)) : picture, path);
}

/// A status line on the terminal that overwrites itself; nothing if the output is not a terminal.
void progress(const std::string &text) {
    if (!isatty(STDERR_FILENO))
        return;
    std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
    std::fflush(stderr);
}

/// Compiles and runs the form with one schedule and prints the times.
Runner timed(const App &app, const std::vector<Inputs> &inputs, std::optional<Size> size, Way way,
             const Pipe::Target &target = Pipe::get_host_target()) {
    progress(app.name + ": " + name_of(way) + " schedule");
    Runner runner(app, inputs, size, way, target);
    const bool takes_seconds = runner.first_run_ms > 1000;  // then one run is enough
    const double run_ms = takes_seconds ? runner.first_run_ms : median_run([&] { runner.run(0); });
    progress("");
    const Pipe::CompileTimes times = runner.pipeline.compile_times();
    std::printf(
        "  %-6s %9.2f ms a run; compiled in %.1f ms (schedule %.1f, lowering %.1f, LLVM %.1f)\n",
        name_of(way), run_ms, times.schedule_ms + times.lower_ms + times.llvm_ms, times.schedule_ms,
        times.lower_ms, times.llvm_ms);
    return runner;
}

std::string shape(const Buffer<> &array) {
    std::string text;
    for (int d = 0; d < array.dimensions(); ++d) {
        text += (d ? " x " : "") + std::to_string(array.extent(d));
    }
    return text;
}

const App &named(const std::string &name, const std::vector<App> &apps) {
    return *std::find_if(apps.begin(), apps.end(),
                         [&](const App &app) { return app.name == name; });
}

/// Runs it under each schedule of the CPU, or, with a device, under the CPU's hand schedule and those of the device. The
/// last one, whose output is shown.
Runner run_schedules(const App &app, const std::vector<Inputs> &inputs, std::optional<Size> size,
                     const std::optional<Pipe::Target> &device) {
    if (!device)
        timed(app, inputs, size, Way::Naive);
    timed(app, inputs, size, Way::Hand);
    if (!device)
        return timed(app, inputs, size, Way::Auto);
    timed(app, inputs, size, Way::GPU, *device);
    return timed(app, inputs, size, Way::Auto, *device);
}

void run_form(const App &app, const Form &form, const Buffer<> &given,
              const std::optional<Pipe::Target> &device, const std::filesystem::path &folder) {
    const Buffer<float> photo = photograph(given);
    const std::optional<Buffer<uint16_t>> raw = raw_data(given);
    std::vector<Inputs> inputs;
    std::optional<Size> size;
    if (form.raw_inputs && raw) {
        inputs = form.raw_inputs(*raw);
    } else if (form.inputs) {
        inputs = form.inputs(photo);
    } else {
        size = app.size;
        progress(app.name + ": making the input");
        inputs = {make_inputs(app, *app.make(), app.size)};
    }
    std::printf("%s: %s\n", app.name.c_str(), app.title.c_str());
    Runner chosen = run_schedules(app, inputs, size, device);
    std::printf("  output %s", shape(chosen.outputs.front()).c_str());
    std::printf("; schedule chosen\n");
    print_indented(chosen.pipeline.schedule_report());
    std::printf("\n");
    if (!form.picture)
        return;

    const std::string before = folder / (app.name + "_before.png");
    const std::string after = folder / (app.name + "_after.png");
    save_as_bytes(form.before ? form.before(inputs.front()) : Buffer<>(photo), before);
    save_as_bytes(form.picture(chosen.outputs), after);
    std::printf("  pictures %s, %s\n\n", before.c_str(), after.c_str());
}

}  // namespace

Buffer<float> make_planes(const std::vector<Pipe::BufferDim> &shape,
                          const std::function<float(int, int, int)> &f) {
    std::vector<int64_t> extents, mins;
    for (const Pipe::BufferDim &dim : shape) {
        extents.push_back(dim.extent);
        mins.push_back(dim.min);
    }
    Buffer<float> planes(extents);
    planes.set_min(mins);
    if (shape.size() == 2) {
        planes.fill([&](int x, int y) { return f(x, y, 0); });
    } else {
        planes.fill([&](int x, int y, int c) { return f(x, y, c); });
    }
    return planes;
}

Buffer<float> framed(const Buffer<float> &photo, int before, int after) {
    const int width = int(photo.dim(0).extent()), height = int(photo.dim(1).extent());
    return make_planes({{-before, width + before + after, 0},
                        {-before, height + before + after, 0},
                        {0, photo.dim(2).extent(), 0}},
                       [&](int x, int y, int c) {
                           return photo(std::clamp(x, 0, width - 1), std::clamp(y, 0, height - 1),
                                        c);
                       });
}

Buffer<float> join_planes(const std::vector<Buffer<>> &planes) {
    const std::vector<Buffer<float>> typed(planes.begin(), planes.end());
    return make_planes({{0, planes[0].dim(0).extent(), 0},
                        {0, planes[0].dim(1).extent(), 0},
                        {0, int64_t(planes.size()), 0}},
                       [&](int x, int y, int c) { return typed[size_t(c)](x, y); });
}

Buffer<float> luminance(const Buffer<float> &photo) {
    return make_planes(
        {{0, photo.dim(0).extent(), 0}, {0, photo.dim(1).extent(), 0}}, [&](int x, int y, int) {
            return 0.299f * photo(x, y, 0) + 0.587f * photo(x, y, 1) + 0.114f * photo(x, y, 2);
        });
}

int demo(int argc, char **argv, const std::vector<App> &apps, const std::vector<Form> &forms) {
    std::string image;
    std::filesystem::path folder = "out";
    std::optional<Pipe::Target> device;
    for (int i = 1; i < argc; ++i) {
        const std::string arg = argv[i];
        if (arg == "--out" && i + 1 < argc) {
            folder = argv[++i];
        } else if (arg == "--gpu") {
            device = Pipe::Target("host-cuda");
        } else if (arg == "--emulate") {
            device = Pipe::Target("host-cuda_emulator");
        } else if (!arg.starts_with("-") && image.empty()) {
            image = arg;
        } else {
            std::fprintf(stderr, "usage: %s [IMAGE] [--out FOLDER] [--gpu | --emulate]\n", argv[0]);
            return 2;
        }
    }
    try {
        std::filesystem::create_directories(folder);
        const bool emulated = device && device->has_feature(Pipe::Target::CUDAEmulator);
        const Buffer<> picture = !image.empty() ? Pipe::load_image(image)
                                 : emulated     ? Buffer<>(default_picture(320, 192))
                                                : Buffer<>(default_picture());
        for (const Form &form : forms)
            run_form(named(form.name, apps), form, picture, device, folder);
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
}

}  // namespace apps
