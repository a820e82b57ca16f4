// Networks: convolution layers, batch normalisation, VDSR, ResNet-50, the running example.
#include "apps/common/inputs.h"
#include "apps/conv_bn/conv_bn.h"
#include "apps/resnet50/resnet50.h"
#include "apps/vdsr/vdsr.h"
#include "test/apps/support.h"

using namespace app_test;
using Pipe::Buffer;

TEST_CASE("quantised convolution: multiples of 1/128, as integers say") {
    const apps::App &app = app_named("quantised_conv");
    const apps::Size size{61, 37};
    auto quantised = [&](int x, int y) {
        const double value = app.inputs[0].value({x, y}, size) * 16;
        return int(std::clamp(std::nearbyint(value), -128.0, 127.0));
    };
    auto expected = [&](int x, int y, int) {
        int total = 0;
        for (int a = 0; a < 3; ++a) {
            for (int b = 0; b < 3; ++b)
                total += quantised(x + b, y + a) * (a * 3 + b - 4);
        }
        return std::max(total, 0) / 128.0;
    };
    for (Way way : all) {
        INFO(name_of(way));
        CHECK(error(run(app, size, way), expected) == 0);
    }
}

TEST_CASE("convolution layer against loops") {
    const apps::App &app = app_named("conv_layer");
    const apps::Size size{9, 6};
    const std::unique_ptr<apps::Program> program = app.make();
    const std::vector<Buffer<>> inputs = apps::make_inputs(app, *program, size);
    const Buffer<float> in = inputs[0], filter = inputs[1], bias = inputs[2];
    for (Way way : compiled) {
        INFO(name_of(way));
        const Buffer<double> out = run(app, size, way);
        double largest = 0;
        out.for_each_element([&](int c, int x, int y, int n) {
            double sum = bias(c);
            for (int i = 0; i < int(in.extent(0)); ++i) {
                for (int b = 0; b < 3; ++b) {
                    for (int a = 0; a < 3; ++a) {
                        sum += double(filter(c, a, b, i)) * in(i, x + a, y + b, n);
                    }
                }
            }
            largest = std::max(largest, std::abs(out(c, x, y, n) - std::max(sum, 0.0)));
        });
        CHECK(largest <= 1e-5 * max_abs(out));
    }
}

namespace {

/// The statistics of a layer of 64 channels whose convolution leaves the values as they are.
void check_statistics(const std::function<double(const apps::Point &)> &value, Way way) {
    const apps::App &app = app_named("conv_bn_64_56_64_1_1");
    const apps::Size size{11, 7};
    apps::ConvBn program({64, 56, 64, 1, 1});
    std::vector<Buffer<>> inputs = apps::make_inputs(app, program, size);
    const int channels = int(inputs[1].extent(3));  // as many go in, and a few more come out
    apps::fill(inputs[0], value);
    apps::fill(inputs[1], [](const apps::Point &p) { return p[0] == p[3]; });
    apps::set_inputs(program, inputs);
    const Buffer<double> mean = run_stage(program, program.mean, {{0, channels}}, way);
    apps::ConvBn again({64, 56, 64, 1, 1});
    apps::set_inputs(again, inputs);
    const Buffer<double> square = run_stage(again, again.mean_square, {{0, channels}}, way);
    for (int c = 0; c < channels; ++c) {
        double sum = 0, sum_of_squares = 0;
        for (int y = 0; y < size.height; ++y) {
            for (int x = 0; x < size.width; ++x) {
                const double v = value({c, x, y, 0});
                sum += v;
                sum_of_squares += v * v;
            }
        }
        const double count = size.width * size.height;
        CHECK_NEAR(mean(c), sum / count, 1e-5);
        CHECK_NEAR(square(c), sum_of_squares / count, 1e-5);
        CHECK(square(c) - mean(c) * mean(c) >= -1e-6);
    }
}

}  // namespace

TEST_CASE("batch normalisation: statistics of a flat input, and of any, through a delta kernel") {
    for (Way way : {Way::Naive, Way::Auto}) {
        INFO(name_of(way));
        check_statistics([](const apps::Point &p) { return 0.25 * (p[0] + 1); }, way);
        check_statistics([](const apps::Point &p) { return apps::u8(p[0], p[1], p[2]) / 255.0; },
                         way);
    }
}

TEST_CASE("batch normalisation leaves mean 0 and variance 1") {
    for (const char *name :
         {"conv_bn_3_224_64_7_2", "conv_bn_64_56_64_3_1", "conv_bn_128_56_128_3_2",
          "conv_bn_64_56_64_1_1", "conv_bn_256_56_128_1_2"}) {
        const apps::App &app = app_named(name);
        const apps::Size size{9, 6};
        for (Way way : compiled) {
            INFO(name << " " << name_of(way));
            const std::unique_ptr<apps::Program> program = app.make();
            std::vector<Buffer<>> inputs = apps::make_inputs(app, *program, size);
            // y = 0.01 y^ + 1: nothing is negative, the ReLU takes nothing away
            apps::fill(inputs[2], [](const apps::Point &p) { return p[1] ? 1 : 0.01; });
            const Buffer<double> out = run(app, *program, size, inputs, way);
            const double count = size.width * size.height;
            for (int c = 0; c < int(out.extent(0)); ++c) {
                double sum = 0, squares = 0;
                for (int y = 0; y < size.height; ++y) {
                    for (int x = 0; x < size.width; ++x) {
                        const double v = (out(c, x, y, 0) - 1) * 100;
                        sum += v;
                        squares += v * v;
                    }
                }
                CHECK_NEAR(sum / count, 0.0, 1e-3);
                // the epsilon of the formula makes small variances smaller
                CHECK((squares / count <= 1.001 && squares / count > 0.9));
            }
        }
    }
}

namespace {

using Fill = std::function<double(const apps::Point &)>;

Buffer<double> run_vdsr(apps::Size size, int layers, const Fill &first, const Fill &middle,
                        const Fill &last, const Fill &bias, Way way) {
    const apps::App &app = app_named("vdsr");
    apps::Vdsr program(layers);
    std::vector<Buffer<>> inputs = apps::make_inputs(app, program, size);
    apps::fill(inputs[1], first);
    apps::fill(inputs[2], middle);
    apps::fill(inputs[3], last);
    apps::fill(inputs[4], bias);
    return run(app, program, size, inputs, way);
}

double nothing(const apps::Point &) {
    return 0;
}

}  // namespace

TEST_CASE("VDSR without weights keeps the picture, up to the round trip of its colours") {
    const apps::App &app = app_named("vdsr");
    const apps::Size size{23, 9};
    auto same = [&](int x, int y, int c) { return app.inputs[0].value({x, y, c}, size); };
    for (Way way : compiled) {
        INFO(name_of(way));
        const Buffer<double> out = run_vdsr(size, 5, nothing, nothing, nothing, nothing, way);
        CHECK(error(out, same) <= 1);
    }
}

TEST_CASE("VDSR layer by layer: kernels of ones count the pixels under them") {
    const apps::Size size{12, 8};
    const int features = 6;
    for (Way way : all) {
        INFO(name_of(way));
        const apps::App &app = app_named("vdsr");
        apps::Vdsr program(4);
        std::vector<Buffer<>> inputs = apps::make_inputs(app, program, size);
        apps::fill(inputs[0], [](const apps::Point &) { return 100; });
        // the first layer copies the luminance, the second adds up all features of 3x3 pixels
        apps::fill(inputs[1], [](const apps::Point &p) { return p[1] == 1 && p[2] == 1; });
        apps::fill(inputs[2], [](const apps::Point &p) { return p[4] == 0; });
        apps::fill(inputs[4], nothing);
        apps::set_inputs(program, inputs);
        const Buffer<double> out = run_stage(program, program.result[1],
                                             {{0, features}, {0, size.width}, {0, size.height}},
                                             way == Way::Hand ? Way::Naive : way);
        const double luma = (16 + 100 * (0.257 + 0.504 + 0.098)) / 255;
        double largest = 0;
        out.for_each_element([&](int c, int x, int y) {
            const int across = 3 - (x == 0) - (x == size.width - 1);
            const int down = 3 - (y == 0) - (y == size.height - 1);
            const double expected = features * across * down * luma;
            largest = std::max(largest, std::abs(out(c, x, y) - expected));
        });
        CHECK(largest <= 1e-4 * features * 9 * luma);
    }
}

TEST_CASE("ResNet-50: a small one under every schedule") {
    const apps::Size size{64, 64};
    const apps::App app = apps::resnet50_app(size);
    const Buffer<double> expected = run(app, size, Way::Reference);
    CHECK_NEAR(sum(expected), 1.0, 1e-5);
    CHECK(max(expected) - min(expected) > 1e-3);  // it does not say the same of all classes
    for (Way way : compiled) {
        INFO(name_of(way));
        CHECK(max_abs_difference(run(app, size, way), expected) <= 1e-4 * max_abs(expected));
    }
}

TEST_CASE("ResNet-50: normalisation folded into the weights gives the same") {
    const apps::Size size{64, 64};
    const apps::App app = apps::resnet50_app(size);
    const std::unique_ptr<apps::Program> program = app.make();
    std::vector<Buffer<>> inputs = apps::make_inputs(app, *program, size);
    const Buffer<double> expected = run(app, *program, size, inputs, Way::Naive);
    // y = (Wx - mean) / sqrt(variance + eps) * scale + offset = W'x + offset'
    for (size_t i = 1; i + 2 < inputs.size(); i += 2) {
        const Buffer<float> filter = inputs[i], norm = inputs[i + 1];
        auto factor = [&](int c) { return norm(c, 2) / std::sqrt(norm(c, 1) + 1e-5f); };
        filter.for_each_element(
            [&](int c, int x, int y, int in) { filter(c, x, y, in) *= factor(c); });
        for (int c = 0; c < int(norm.extent(0)); ++c) {
            const float offset = norm(c, 3) - norm(c, 0) * factor(c);
            norm(c, 0) = 0;
            norm(c, 1) = 1 - 1e-5f;
            norm(c, 2) = 1;
            norm(c, 3) = offset;
        }
    }
    const std::unique_ptr<apps::Program> fresh = app.make();
    const Buffer<double> folded = run(app, *fresh, size, inputs, Way::Naive);
    CHECK(max_abs_difference(folded, expected) <= 1e-4 * max_abs(expected));
}
