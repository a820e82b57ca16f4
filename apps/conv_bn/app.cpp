#include "apps/conv_bn/conv_bn.h"

#include "apps/common/blocked_weights.h"
#include "apps/common/inputs.h"

namespace apps {
namespace {

/// All layers of section 14; where the sources put a stride of 1 or 2, both.
const ConvBn::Shape shapes[] = {
    {3, 224, 64, 7, 2},    {64, 56, 64, 3, 1},    {128, 56, 128, 3, 2},   {64, 56, 64, 1, 1},
    {256, 56, 128, 1, 2},  {64, 56, 256, 1, 1},   {256, 56, 64, 1, 1},    {256, 56, 128, 1, 1},
    {256, 56, 512, 1, 2},  {128, 28, 128, 3, 1},  {128, 28, 512, 1, 1},   {512, 28, 128, 1, 1},
    {512, 28, 256, 1, 1},  {512, 28, 256, 1, 2},  {256, 28, 256, 3, 2},   {512, 28, 1024, 1, 2},
    {256, 14, 256, 3, 1},  {256, 14, 1024, 1, 1}, {1024, 14, 256, 1, 1},  {1024, 14, 512, 1, 1},
    {1024, 14, 512, 1, 2}, {512, 14, 512, 3, 2},  {1024, 14, 2048, 1, 2}, {512, 7, 512, 3, 1},
    {512, 7, 2048, 1, 1},  {2048, 7, 512, 1, 1},
};

App layer(const ConvBn::Shape &shape) {
    const int width = shape.size / shape.stride;
    // problems smaller than the layer have fewer channels, too; of the result as many as the hand schedule
    // takes at once
    const int at_once = shape.blocks_at_once() * channels_of_block;
    auto in = [=](Size s) { return s.width < width ? std::min(shape.in, 6) : shape.in; };
    auto out = [=](Size s) { return s.width < width ? at_once : shape.out; };
    const double scale = 1.0 / shape.kernel;

    App app{};
    app.name = "conv_bn_" + std::to_string(shape.in) + "_" + std::to_string(shape.size) + "_" +
               std::to_string(shape.out) + "_" + std::to_string(shape.kernel) + "_" +
               std::to_string(shape.stride);
    app.title = "convolution " + std::to_string(shape.kernel) + "×" + std::to_string(shape.kernel) +
                ", " + std::to_string(shape.in) + " → " + std::to_string(shape.out) +
                (shape.stride == 1 ? "" : ", stride 2") + ", batch normalization (14)";
    app.size = {width, width};
    app.make = [=] { return std::make_unique<ConvBn>(shape); };
    app.inputs = {
        {[=](Size s) -> Box {
             return {{0, in(s)}, {0, s.width * shape.stride}, {0, s.height * shape.stride}, {0, 1}};
         },
         [](const Point &p, Size) { return u8(p[0], p[1], p[2]) / 255.0; }},
        {[=](Size s) -> Box { return blocked_filter(in(s), shape.kernel, out(s)); },
         [=](const Point &p, Size) {
             const auto [c, x, y, k, none] = weight_at(p);
             return (u8(c * 2048 + k, y * 7 + x, 1) - 127.5) / 1275 * scale;
         }},
        {[=](Size s) -> Box {
             return {{0, out(s)}, {0, 2}};
         },
         [](const Point &p, Size) { return (p[1] ? 0 : 1) + (u8(p[0], p[1], 2) - 128) / 512.0; }}};
    app.output_box = [=](Size s) -> Box {
        return {{0, out(s)}, {0, s.width}, {0, s.height}, {0, 1}};
    };
    app.flops = [=](Size s) {
        return (2.0 * shape.kernel * shape.kernel * in(s) + 8) * out(s) * s.width * s.height;
    };
    app.tolerance = 1e-4;
    app.small = {{2, 1}, {5, 4}};
    return app;
}

}  // namespace

std::vector<App> conv_bn_apps() {
    std::vector<App> apps;
    for (const ConvBn::Shape &shape : shapes)
        apps.push_back(layer(shape));
    return apps;
}

}  // namespace apps
