#include "apps/conv_layer/conv_layer.h"

#include "apps/common/inputs.h"

namespace apps {

std::vector<App> conv_layer_apps() {
    // problems smaller than the paper's have fewer channels and pictures, too
    static constexpr auto channels = [](Size s) { return s.width < 100 ? 20 : 128; };
    static constexpr auto pictures = [](Size s) { return s.width < 100 ? 2 : 5; };

    App app{};
    app.name = "conv_layer";
    app.title = "3x3 convolution of 128 channels, ReLU (20)";
    app.size = {100, 80};
    app.make = [] { return std::make_unique<ConvLayer>(); };
    app.inputs = {
        {[](Size s) -> Box {
             return {{0, channels(s)}, {0, s.width + 2}, {0, s.height + 2}, {0, pictures(s)}};
         },
         [](const Point &p, Size) { return u8(p[0] + 128 * p[3], p[1], p[2]) / 255.0; }},
        {[](Size s) -> Box {
             return {{0, channels(s)}, {0, 3}, {0, 3}, {0, channels(s)}};
         },
         [](const Point &p, Size) {
             return (u8(p[0] * 128 + p[3], p[2] * 3 + p[1], 0) - 127.5) / 1275;
         }},
        {[](Size s) -> Box {
             return {{0, channels(s)}};
         },
         [](const Point &p, Size) { return (u8(p[0], 0, 0) - 128) / 128.0; }}};
    app.output_box = [](Size s) -> Box {
        return {{0, channels(s)}, {0, s.width}, {0, s.height}, {0, pictures(s)}};
    };
    app.flops = [](Size s) {
        return 2.0 * 9 * channels(s) * channels(s) * s.width * s.height * pictures(s);
    };
    app.tolerance = 1e-5;
    app.small = {{1, 1}, {7, 5}, {13, 3}};
    return {app};
}

}  // namespace apps
