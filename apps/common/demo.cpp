#include "apps/common/demo.h"

#include "apps/common/picture.h"
#include "apps/common/registry.h"

#include <pipe/image_io.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

namespace apps {
namespace {

using Pipe::Buffer;

double milliseconds(const std::function<void()> &work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// Median over as many runs as fit into half a second, at least 3 and at most 30.
double median_run(const std::function<void()> &run) {
    const int runs = std::clamp(int(500 / milliseconds(run)), 3, 30);
    std::vector<double> times;
    for (int i = 0; i < runs; ++i) times.push_back(milliseconds(run));
    std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
    return times[size_t(runs / 2)];
}

/// Any photograph as float 0..1 with three channels.
Buffer<float> photograph(const std::string &path) {
    if (path.empty()) return Pipe::convert_image(default_picture(), Pipe::Float(32));
    const Buffer<float> image = Pipe::load_image_as<float>(path);
    const int channels = int(image.dim(2).extent());
    return make_planes({{0, image.dim(0).extent(), 0}, {0, image.dim(1).extent(), 0}, {0, 3, 0}},
                       [&](int x, int y, int c) { return image(x, y, channels < 3 ? 0 : c); });
}

Buffer<> make_output(const App &app, const Program &program, Size size) {
    std::vector<int64_t> extents, mins;
    for (Range range : app.output_box(size)) {
        extents.push_back(range.extent);
        mins.push_back(range.min);
    }
    Buffer<> output(program.output().types().at(0), extents);
    output.set_min(mins);
    return output;
}

/// The size of output that an input of this shape allows.
Size output_size(const App &app, const Buffer<> &input) {
    const Box one = app.input_box({1, 1});
    return {int(input.dim(0).extent()) - one[0].extent + 1, int(input.dim(1).extent()) - one[1].extent + 1};
}

/// One way to schedule an application on its inputs, compiled by the first run.
struct Runner {
    Runner(const App &app, const std::vector<Buffer<>> &images, bool autoscheduled)
        : program(app.make()), pipeline(program->output()), inputs(images) {
        for (const Buffer<> &input : inputs) {
            outputs.push_back(make_output(app, *program, output_size(app, input)));
        }
        if (autoscheduled) {
            pipeline.autoschedule(Pipe::get_host_target());
        } else {
            program->schedule_naively();
        }
        for (size_t i = 0; i < inputs.size(); ++i) run(i);
    }

    void run(size_t i) {
        program->inputs.at(0).set(inputs[i]);
        pipeline.realize(outputs[i]);
    }

    std::unique_ptr<Program> program;
    Pipe::Pipeline pipeline;
    std::vector<Buffer<>> inputs, outputs;
};

void print_indented(const std::string &text) {
    size_t start = 0;
    while (start < text.size()) {
        const size_t end = std::min(text.find('\n', start), text.size());
        std::printf("    %s\n", text.substr(start, end - start).c_str());
        start = end + 1;
    }
}

void run_form(const Form &form, const Buffer<float> &photo, const std::filesystem::path &folder) {
    const App &app = *find_app(form.name);
    const std::vector<Buffer<>> inputs = form.inputs(photo);
    Runner chosen(app, inputs, true), naive(app, inputs, false);
    const Buffer<> &output = chosen.outputs.front();

    std::printf("%s: %s, output %d x %d%s\n", app.name.c_str(), app.title.c_str(),
                int(output.dim(0).extent()), int(output.dim(1).extent()),
                output.dimensions() > 2 ? " x 3" : "");
    std::printf("  schedule chosen\n");
    print_indented(chosen.pipeline.schedule_report());
    const Pipe::CompileTimes times = chosen.pipeline.compile_times();
    std::printf("  compile time   %.1f ms (schedule %.1f, lowering %.1f, LLVM %.1f)\n",
                times.schedule_ms + times.lower_ms + times.llvm_ms, times.schedule_ms, times.lower_ms,
                times.llvm_ms);
    const double ours = median_run([&] { chosen.run(0); }), theirs = median_run([&] { naive.run(0); });
    std::printf("  time per run   %.2f ms; naive schedule %.2f ms; %.1f times as fast\n", ours, theirs,
                theirs / ours);

    const std::string before = folder / (app.name + "_before.png");
    const std::string after = folder / (app.name + "_after.png");
    Pipe::save_image(photo, before);
    Pipe::save_image(form.picture(chosen.outputs), after);
    std::printf("  pictures       %s, %s\n\n", before.c_str(), after.c_str());
}

} // namespace

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

int demo(int argc, char **argv, const std::vector<Form> &forms) {
    std::string image;
    std::filesystem::path folder = "out";
    for (int i = 1; i < argc; ++i) {
        const std::string arg = argv[i];
        if (arg == "--out" && i + 1 < argc) {
            folder = argv[++i];
        } else if (!arg.starts_with("-") && image.empty()) {
            image = arg;
        } else {
            std::fprintf(stderr, "usage: %s [IMAGE] [--out FOLDER]\n", argv[0]);
            return 2;
        }
    }
    try {
        std::filesystem::create_directories(folder);
        const Buffer<float> photo = photograph(image);
        for (const Form &form : forms) run_form(form, photo, folder);
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
}

} // namespace apps
