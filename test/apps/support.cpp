#include "test/apps/support.h"

#include <algorithm>
#include <limits>

namespace app_test {

using Pipe::Buffer;

const apps::App &app_named(const std::string &name) {
    const apps::App *app = apps::find_app(name);
    INFO(name);
    REQUIRE(app);
    return *app;
}

void schedule(apps::Program &program, Pipe::Pipeline &pipeline, Way way) {
    apps::schedule(program, pipeline, way, Pipe::get_host_target());
}

namespace {

Buffer<double> realize(Pipe::Pipeline &pipeline, const Buffer<> &output, Way way) {
    if (way == Way::Reference) {
        pipeline.realize_reference(output);
    } else {
        pipeline.realize(output);
    }
    return apps::as_doubles(output);
}

std::vector<Buffer<>> inputs_with(const apps::App &app, const apps::Program &program,
                                  apps::Size size, const Pixel &pixel) {
    const std::vector<Buffer<>> inputs = apps::make_inputs(app, program, size);
    apps::fill(inputs.at(0), [&](const apps::Point &p) { return pixel(p[0], p[1], p[2]); });
    return inputs;
}

}  // namespace

Scheduled::Scheduled(const apps::App &app, Way way)
    : app_(app), way_(way), program_(app.make()), pipeline_(program_->output()) {
    schedule(*program_, pipeline_, way);
}

Buffer<double> Scheduled::run(apps::Size size, const std::vector<Buffer<>> &inputs) {
    apps::set_inputs(*program_, inputs);
    return realize(pipeline_, apps::make_output(app_, *program_, size), way_);
}

Buffer<double> Scheduled::run(apps::Size size) {
    return run(size, apps::make_inputs(app_, *program_, size));
}

Buffer<double> Scheduled::run(apps::Size size, const Pixel &pixel) {
    return run(size, inputs_with(app_, *program_, size, pixel));
}

Buffer<double> run_stage(apps::Program &program, const Pipe::Func &stage, const apps::Box &box,
                         Way way) {
    Pipe::Pipeline pipeline(stage);
    schedule(program, pipeline, way);
    return realize(pipeline, apps::make_array(stage.types().at(0), box), way);
}

Buffer<double> run(const apps::App &app, apps::Program &program, apps::Size size,
                   const std::vector<Buffer<>> &inputs, Way way) {
    apps::set_inputs(program, inputs);
    return run_stage(program, program.output(), app.output_box(size), way);
}

Buffer<double> run(const apps::App &app, apps::Program &program, apps::Size size,
                   const Pixel &pixel, Way way) {
    const std::vector<Buffer<>> inputs = apps::make_inputs(app, program, size);
    apps::fill(inputs.at(0), [&](const apps::Point &p) { return pixel(p[0], p[1], p[2]); });
    return run(app, program, size, inputs, way);
}

Buffer<double> run_on(const std::string &name, apps::Size size, const Pixel &pixel, Way way) {
    const apps::App &app = app_named(name);
    return run(app, *app.make(), size, pixel, way);
}

Buffer<double> run(const char *name, apps::Program &program, apps::Size size, Way way) {
    const apps::App &app = app_named(name);
    return run(app, program, size, apps::make_inputs(app, program, size), way);
}

Buffer<double> run(const apps::App &app, apps::Size size, Way way) {
    const std::unique_ptr<apps::Program> program = app.make();
    return run(app, *program, size, apps::make_inputs(app, *program, size), way);
}

double sum(const Buffer<double> &b) {
    double total = 0;
    b.for_each_value([&](double v) { total += v; });
    return total;
}

double min(const Buffer<double> &b) {
    double least = std::numeric_limits<double>::infinity();
    b.for_each_value([&](double v) { least = std::min(least, v); });
    return least;
}

double max(const Buffer<double> &b) {
    double largest = -std::numeric_limits<double>::infinity();
    b.for_each_value([&](double v) { largest = std::max(largest, v); });
    return largest;
}

double error(const Buffer<double> &out, const Pixel &expected, int border) {
    double largest = 0;
    auto visit = [&](int x, int y, int c, double value) {
        const bool inside = x >= out.dim(0).min() + border && x <= out.dim(0).max() - border &&
                            y >= out.dim(1).min() + border && y <= out.dim(1).max() - border;
        // !(<=) and not >: a NaN must be found
        if (inside && !(std::abs(value - expected(x, y, c)) <= largest)) {
            largest = std::abs(value - expected(x, y, c));
        }
    };
    if (out.dimensions() == 2) {
        out.for_each_element([&](int x, int y) { visit(x, y, 0, out(x, y)); });
    } else {
        out.for_each_element([&](int x, int y, int c) { visit(x, y, c, out(x, y, c)); });
    }
    return largest;
}

void check_golden(const Buffer<double> &out, const GoldenOutput &golden) {
    for (const auto &[x, y, c, value] : golden.elements) {
        INFO("at " << x << ", " << y << ", " << c);
        CHECK_NEAR(out.dimensions() == 2 ? out(x, y) : out(x, y, c), value, golden.tolerance);
    }
    CHECK_NEAR(sum(out), golden.sum, double(out.number_of_elements()) * golden.tolerance);
    if (golden.min)
        CHECK_NEAR(min(out), *golden.min, golden.tolerance);
    if (golden.max)
        CHECK_NEAR(max(out), *golden.max, golden.tolerance);
}

}  // namespace app_test
