// Networks: convolution layers, batch normalization, VDSR, ResNet-50, the running example.
#include "apps/common/blocked_weights.h"
#include "apps/common/conv.h"
#include "apps/common/inputs.h"
#include "apps/conv_bn/conv_bn.h"
#include "apps/conv_layer/conv_layer.h"
#include "apps/resnet50/resnet50.h"
#include "apps/vdsr/vdsr.h"
#include "test/apps/support.h"
#include "test/support/targets.h"

using namespace app_test;
using Pipe::Buffer;

TEST_CASE("quantized convolution: multiples of 1/128, as integers say") {
    const apps::App &app = app_named("quantized_conv");
    const apps::Size size{61, 37};
    auto quantized = [&](int x, int y) {
        const double value = app.inputs[0].value({x, y}, size) * 16;
        return int(std::clamp(std::nearbyint(value), -128.0, 127.0));
    };
    auto expected = [&](int x, int y, int) {
        int total = 0;
        for (int a = 0; a < 3; ++a) {
            for (int b = 0; b < 3; ++b)
                total += quantized(x + b, y + a) * (a * 3 + b - 4);
        }
        return std::max(total, 0) / 128.0;
    };
    for (Way way : all) {
        INFO(name_of(way));
        CHECK(error(run(app, size, way), expected) == 0);
    }
}

namespace {

/// The sum over the input's channels and the kernel at pixel (x, y) of channel c of picture n.
double convolved(const Buffer<float> &in, const Buffer<float> &filter, int c, int x, int y, int n) {
    double sum = 0;
    for (int i = 0; i < int(in.extent(0)); ++i) {
        for (int b = 0; b < int(filter.extent(2)); ++b) {
            for (int a = 0; a < int(filter.extent(1)); ++a)
                sum += double(filter(c, a, b, i)) * in(i, x + a, y + b, n);
        }
    }
    return sum;
}

/// A conv_layer with that many channels in and out, whatever the entry of the table says.
void check_conv_layer(int channels_in, int channels_out, apps::Size size,
                      const std::function<void(apps::ConvLayer &, Pipe::Pipeline &)> &schedule) {
    const apps::App &app = app_named("conv_layer");
    apps::ConvLayer program;
    Pipe::Pipeline pipeline(program.output());
    schedule(program, pipeline);
    const Buffer<float> in(channels_in, size.width + 2, size.height + 2, 2),
        filter(channels_out, 3, 3, channels_in), bias(channels_out);
    const Buffer<> inputs[] = {in, filter, bias};
    for (size_t i = 0; i < 3; ++i)
        apps::fill(inputs[i], [&](const apps::Point &p) { return app.inputs[i].value(p, size); });
    apps::set_inputs(program, {in, filter, bias});
    const Buffer<float> out(channels_out, size.width, size.height, 2);
    pipeline.realize(out);
    double largest = 0;
    out.for_each_element([&](int c, int x, int y, int n) {
        const double expected = std::max(bias(c) + convolved(in, filter, c, x, y, n), 0.0);
        largest = std::max(largest, std::abs(out(c, x, y, n) - expected));
    });
    CHECK(largest <= 1e-5 * max_abs(out));
}

}  // namespace

TEST_CASE("convolution layer against loops") {
    for (Way way : compiled) {
        INFO(name_of(way));
        check_conv_layer(20, 20, {9, 6}, [&](apps::ConvLayer &program, Pipe::Pipeline &pipeline) {
            schedule(program, pipeline, way);
        });
    }
}

TEST_CASE("blocks of sums fit the registers and keep the multipliers busy") {
    for (const char *name : {"x86-64-linux-sse41", "x86-64-linux-avx2-fma",
                             "x86-64-linux-avx512_skylake", "arm-64-linux"}) {
        const Pipe::Target target(name);
        for (int channels : {32, 64, 128, 512}) {
            for (int width : {7, 14, 28, 56, 100, 112, 256}) {
                INFO(name << ", " << channels << " channels, " << width << " pixels");
                const int vectors = channels / target.natural_vector_size<float>();
                const apps::RegisterBlock block = apps::register_block(target, vectors, width);
                CHECK(vectors % block.vectors == 0);
                CHECK(block.registers() <= apps::vector_registers(target));
                CHECK(block.sums() >= 10);
                CHECK((width + block.values - 1) / block.values * block.values <= width * 9 / 7);
            }
        }
    }
}

// Here the blocks are whole, and there are several.
TEST_CASE("convolution layers in whole blocks of registers against loops") {
    for (const Pipe::Target &target : Pipe::testing::runnable_targets()) {
        for (int width : {100, 56, 14, 8}) {
            INFO("blocks for layers of width " << width << " on " << target.to_string());
            auto by_blocks = [&](apps::ConvLayer &p, Pipe::Pipeline &) {
                const int in = 8;  // several in one step: of 6 and 3 some are left
                apps::schedule_layer({p.conv, p.r, p.relu, p.c, p.x, in, 64, width}, target);
            };
            const int vectors = 64 / target.natural_vector_size<float>();
            const int pixels = apps::register_block(target, vectors, width).values;
            check_conv_layer(6, 128, {2 * pixels, 7}, by_blocks);
            check_conv_layer(3, 80, {2 * pixels + 1, 2}, by_blocks);  // and a tail along both
        }
    }
}

namespace {

/// Mean and mean square of every channel's values.
struct Statistics {
    double mean = 0, square = 0;
};
Statistics statistics_of(const std::function<double(const apps::Point &)> &value, int c,
                         apps::Size size) {
    Statistics result;
    const double count = size.width * size.height;
    for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) {
            const double v = value({c, x, y, 0});
            result.mean += v / count;
            result.square += v * v / count;
        }
    }
    return result;
}

/// The inputs of a layer whose convolution leaves the values as they are, for y^ + 10.
std::vector<Buffer<>> delta_inputs(apps::ConvBn &program, apps::Size size,
                                   const std::function<double(const apps::Point &)> &value) {
    std::vector<Buffer<>> inputs =
        apps::make_inputs(app_named("conv_bn_64_56_64_1_1"), program, size);
    apps::fill(inputs[0], value);
    apps::fill(inputs[1], [](const apps::Point &p) {
        const auto [c, x, y, in, none] = apps::weight_at(p);
        return c == in;
    });
    apps::fill(inputs[2], [](const apps::Point &p) { return p[1] ? 10 : 1; });
    return inputs;
}

/// What the layer makes of such values, of a few channels or of all 64.
void check_layer(const std::function<double(const apps::Point &)> &value, Way way,
                 apps::Size size) {
    const apps::App &app = app_named("conv_bn_64_56_64_1_1");
    apps::ConvBn program({64, 56, 64, 1, 1});
    const std::vector<Buffer<>> inputs = delta_inputs(program, size, value);
    const int channels = int(inputs[0].extent(0));  // as many go in, and more may come out
    const Buffer<double> out = run(app, program, size, inputs, way);
    for (int c = 0; c < channels; ++c) {
        const Statistics s = statistics_of(value, c, size);
        const double deviation = std::sqrt(s.square - s.mean * s.mean + 1e-5);
        double largest = 0;
        for (int y = 0; y < size.height; ++y) {
            for (int x = 0; x < size.width; ++x) {
                const double expected = (value({c, x, y, 0}) - s.mean) / deviation + 10;
                largest = std::max(largest, std::abs(out(c, x, y, 0) - expected));
            }
        }
        CHECK(largest < 1e-3);
    }
}

}  // namespace

TEST_CASE("batch normalization: a flat input and any, through a delta kernel") {
    const auto flat = [](const apps::Point &p) { return 0.25 * (p[0] % 8 + 1); };
    const auto any = [](const apps::Point &p) { return apps::u8(p[0], p[1], p[2]) / 255.0; };
    for (Way way : compiled) {
        INFO(name_of(way));
        check_layer(flat, way, {11, 7});
        check_layer(any, way, {11, 7});
    }
    check_layer(any, Way::Hand, {56, 3});  // whole blocks of channels
}

TEST_CASE("batch normalization: the statistics by themselves") {
    const auto any = [](const apps::Point &p) { return apps::u8(p[0], p[1], p[2]) / 255.0; };
    const apps::Size size{11, 7};
    for (Way way : {Way::Naive, Way::Auto}) {  // by hand they are computed where they are used
        INFO(name_of(way));
        apps::ConvBn program({64, 56, 64, 1, 1}), again({64, 56, 64, 1, 1});
        apps::set_inputs(program, delta_inputs(program, size, any));
        apps::set_inputs(again, delta_inputs(again, size, any));
        const Buffer<double> mean = run_stage(program, program.mean, {{0, 6}, {0, 1}}, way),
                             square = run_stage(again, again.mean_square, {{0, 6}, {0, 1}}, way);
        for (int c = 0; c < 6; ++c) {
            const Statistics s = statistics_of(any, c, size);
            CHECK_NEAR(mean(c, 0), s.mean, 1e-5);
            CHECK_NEAR(square(c, 0), s.square, 1e-5);
            CHECK(square(c, 0) - mean(c, 0) * mean(c, 0) >= -1e-6);
        }
    }
}

TEST_CASE("batch normalization leaves mean 0 and variance 1") {
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

TEST_CASE("VDSR without weights keeps the picture, up to the round trip of its colors") {
    const apps::App &app = app_named("vdsr");
    const apps::Size size{23, 9};
    auto same = [&](int x, int y, int c) { return app.inputs[0].value({x, y, c}, size); };
    for (Way way : compiled) {
        INFO(name_of(way));
        const Buffer<double> out = run_vdsr(size, 5, nothing, nothing, nothing, nothing, way);
        CHECK(error(out, same) <= 1);
    }
}

namespace {

/// VDSR's luminance of the picture, 0 outside.
double luma(const Buffer<uint8_t> &picture, int x, int y) {
    if (x < 0 || y < 0 || x >= picture.width() || y >= picture.height())
        return 0;
    return (16 + 0.257 * picture(x, y, 0) + 0.504 * picture(x, y, 1) + 0.098 * picture(x, y, 2)) /
           255;
}

/// The result of the first layer by loops, with a frame of zeros of one pixel.
Buffer<double> first_layer(const Buffer<uint8_t> &picture, const Buffer<float> &first,
                           const Buffer<float> &bias) {
    Buffer<double> out(first.extent(0), picture.width() + 2, picture.height() + 2);
    out.set_min(0, -1, -1);
    out.fill(0);
    for (int y = 0; y < picture.height(); ++y) {
        for (int x = 0; x < picture.width(); ++x) {
            for (int c = 0; c < int(first.extent(0)); ++c) {
                double sum = bias(c, 0);
                for (int b = 0; b < 3; ++b) {
                    for (int a = 0; a < 3; ++a)
                        sum += first(c, a, b) * luma(picture, x + a - 1, y + b - 1);
                }
                out(c, x, y) = std::max(sum, 0.0);
            }
        }
    }
    return out;
}

/// The first two layers, with these weights from the first to the second, on the test's input.
void check_two_layers(int features, apps::Size size, const Fill &middle, Way way) {
    const apps::App &app = app_named("vdsr");
    apps::Vdsr program(3);
    const Buffer<uint8_t> picture(size.width, size.height, 3);
    const Buffer<float> first(features, 3, 3), weights(features, 3, 3, features, 1),
        last(features, 3, 3), bias(features, 3);
    const std::vector<Buffer<>> inputs = {picture, first, weights, last, bias};
    for (size_t i = 0; i < inputs.size(); ++i)
        apps::fill(inputs[i], [&](const apps::Point &p) { return app.inputs[i].value(p, size); });
    apps::fill(weights, middle);
    apps::set_inputs(program, inputs);
    const Buffer<double> out = run_stage(program, program.result[1],
                                         {{0, features}, {0, size.width}, {0, size.height}}, way);

    const Buffer<double> in = first_layer(picture, first, bias);
    double difference = 0, largest = 0;
    out.for_each_element([&](int c, int x, int y) {
        double sum = bias(c, 1);
        for (int i = 0; i < features; ++i) {
            for (int b = 0; b < 3; ++b) {
                for (int a = 0; a < 3; ++a)
                    sum += weights(c, a, b, i, 0) * in(i, x + a - 1, y + b - 1);
            }
        }
        difference = std::max(difference, std::abs(out(c, x, y) - std::max(sum, 0.0)));
        largest = std::max(largest, sum);
    });
    INFO("difference " << difference << ", largest " << largest);
    CHECK(largest > 0);
    CHECK(difference <= 1e-5 * largest);
}

}  // namespace

TEST_CASE("VDSR layer by layer against loops") {
    const apps::App &app = app_named("vdsr");
    auto test_weights = [&](const apps::Point &p) { return app.inputs[2].value(p, {}); };
    auto ones = [](const apps::Point &) { return 1; };
    auto identity = [](const apps::Point &p) { return p[0] == p[3] && p[1] == 1 && p[2] == 1; };
    for (Way way : {Way::Reference, Way::Naive, Way::Auto}) {
        INFO(name_of(way));
        check_two_layers(6, {12, 8}, test_weights, way);
    }
    // whole blocks of 64 channels by 5 pixels in registers
    check_two_layers(64, {15, 4}, test_weights, Way::Hand);
    check_two_layers(64, {15, 4}, ones, Way::Hand);
    check_two_layers(64, {15, 4}, identity, Way::Hand);
    check_two_layers(64, {15, 4}, test_weights, Way::Auto);
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

TEST_CASE("ResNet-50: normalization folded into the weights gives the same") {
    const apps::Size size{64, 64};
    const apps::App app = apps::resnet50_app(size);
    const std::unique_ptr<apps::Program> program = app.make();
    std::vector<Buffer<>> inputs = apps::make_inputs(app, *program, size);
    const Buffer<double> expected = run(app, *program, size, inputs, Way::Reference);
    // y = (Wx - mean) / sqrt(variance + eps) * scale + offset = W'x + offset'
    for (size_t i = 1; i + 2 < inputs.size(); i += 2) {
        const Buffer<float> filter = inputs[i], norm = inputs[i + 1];
        auto factor = [&](int c) { return norm(c, 2) / std::sqrt(norm(c, 1) + 1e-5f); };
        filter.for_each_element([&](int lane, int in, int x, int y, int block) {
            const int c = block * apps::channels_of_block + lane;
            if (c < int(norm.extent(0)))
                filter(lane, in, x, y, block) *= factor(c);
        });
        for (int c = 0; c < int(norm.extent(0)); ++c) {
            const float offset = norm(c, 3) - norm(c, 0) * factor(c);
            norm(c, 0) = 0;
            norm(c, 1) = 1 - 1e-5f;
            norm(c, 2) = 1;
            norm(c, 3) = offset;
        }
    }
    const std::unique_ptr<apps::Program> fresh = app.make();
    const Buffer<double> folded = run(app, *fresh, size, inputs, Way::Hand);
    CHECK(max_abs_difference(folded, expected) <= 1e-4 * max_abs(expected));
}
