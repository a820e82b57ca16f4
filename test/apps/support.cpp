#include "test/apps/support.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace app_test {
namespace {

using Pipe::Buffer;

Buffer<> make(Pipe::Type type, const apps::Box &box) {
    std::vector<int64_t> extents, mins;
    for (apps::Range range : box) {
        extents.push_back(range.extent);
        mins.push_back(range.min);
    }
    Buffer<> buffer(type, extents);
    buffer.set_min(mins);
    return buffer;
}

template <typename T>
void fill(const Buffer<> &image, const Pixel &pixel) {
    const Buffer<T> typed = image;
    if (image.dimensions() == 2) {
        typed.fill([&](int x, int y) { return T(pixel(x, y, 0)); });
    } else {
        typed.fill([&](int x, int y, int c) { return T(pixel(x, y, c)); });
    }
}

template <typename T>
Buffer<double> as_doubles(const Buffer<> &image) {
    const Buffer<T> typed = image;
    const Buffer<double> result = Buffer<double>::make_with_shape_of(typed);
    result.for_each_value([](double &to, T from) { to = double(from); }, typed);
    return result;
}

} // namespace

const char *name_of(Way way) {
    switch (way) {
    case Way::Reference: return "reference";
    case Way::Naive: return "naive";
    case Way::Hand: return "hand";
    case Way::Auto: return "auto";
    }
    return "?";
}

Buffer<double> run(const apps::App &app, apps::Program &program, apps::Size size, const Pixel &pixel,
                   Way way) {
    const bool integer = app.integer_bits != 0;
    const Pipe::Type type = integer ? Pipe::UInt(app.integer_bits) : Pipe::Float(32);
    const Buffer<> input = make(type, app.input_box(size)), output = make(type, app.output_box(size));
    integer ? fill<uint16_t>(input, pixel) : fill<float>(input, pixel);
    program.inputs.at(0).set(input);

    const Pipe::Target target = Pipe::get_host_target();
    Pipe::Pipeline pipeline(program.output());
    if (way == Way::Naive) program.schedule_naively();
    if (way == Way::Hand) program.schedule_by_hand(target);
    if (way == Way::Auto) pipeline.autoschedule(target);
    if (way == Way::Reference) {
        pipeline.realize_reference(output);
    } else {
        pipeline.realize(output);
    }
    return integer ? as_doubles<uint16_t>(output) : as_doubles<float>(output);
}

Buffer<double> run(const apps::App &app, apps::Size size, Way way) {
    const std::unique_ptr<apps::Program> program = app.make();
    return run(
        app, *program, size, [&](int x, int y, int c) { return app.pixel(x, y, c, size); }, way);
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

double max_abs(const Buffer<double> &b) { return std::max(max(b), -min(b)); }

double max_abs_difference(const Buffer<double> &a, const Buffer<double> &b) {
    double largest = 0;
    a.for_each_value(
        [&](double u, double v) {
            const double d = std::abs(u - v);
            largest = std::isnan(d) ? std::numeric_limits<double>::infinity() : std::max(largest, d);
        },
        b);
    return largest;
}

} // namespace app_test
