#include "apps/resnet50/resnet50.h"

#include "apps/common/blocked_weights.h"
#include "apps/common/inputs.h"

#include <cmath>

namespace apps {
namespace {

/// The network of that size of picture; a small one for tests.
Resnet50::Options options_of(Size s) {
    Resnet50::Options options;
    if (s.width < 224)
        options = {.width = 2, .classes = 10, .size = s.width};
    return options;
}

App network(const Resnet50::Options &options) {
    App app{};
    app.name = "resnet50";
    app.title = "ResNet-50, one image (14)";
    app.size = {options.size, options.size};  // of the picture
    app.make = [=] { return std::make_unique<Resnet50>(options); };
    app.output_box = [=](Size) -> Box { return {{0, options.classes}}; };
    app.tolerance = 1e-4;

    app.inputs = {{[](Size s) -> Box {
                       return {{0, 3}, {0, s.width}, {0, s.width}};
                   },
                   [](const Point &p, Size) { return u8(p[1], p[2], p[0]) / 127.5 - 1; }}};
    double flops = 2.0 * 32 * options.width * options.classes;
    int number = 0;
    for (const Resnet50::Layer &l : Resnet50::layers(options)) {
        // so large that the signal keeps its size
        const double scale = std::sqrt(6.0 / (l.in * l.kernel * l.kernel));
        const int seed = ++number;
        app.inputs.push_back({[=](Size) -> Box { return blocked_filter(l.in, l.kernel, l.out); },
                              [=](const Point &p, Size) {
                                  const auto [c, x, y, k, none] = weight_at(p);
                                  return (u8(c * 2048 + k, y * 7 + x, seed) / 127.5 - 1) * scale;
                              }});
        app.inputs.push_back({[=](Size) -> Box {
                                  return {{0, l.out}, {0, 4}};
                              },
                              [=](const Point &p, Size) {
                                  const double random = u8(p[0], p[1] + 100, seed) / 255.0 - 0.5;
                                  return p[1] == 0 || p[1] == 3 ? 0.2 * random : 1 + 0.5 * random;
                              }});
        flops += 2.0 * l.kernel * l.kernel * l.in * l.out * l.size * l.size;
    }
    app.inputs.push_back({[=](Size) -> Box {
                              return {{0, options.classes}, {0, 32 * options.width}};
                          },
                          [=](const Point &p, Size) {
                              return (u8(p[0], p[1], 99) / 127.5 - 1) / (4.0 * options.width);
                          }});
    app.inputs.push_back({[=](Size) -> Box {
                              return {{0, options.classes}};
                          },
                          [](const Point &p, Size) { return u8(p[0], 0, 98) / 255.0 - 0.5; }});
    app.flops = [=](Size) { return flops; };
    return app;
}

}  // namespace

App resnet50_app(Size size) {
    return network(options_of(size));
}

std::vector<App> resnet50_apps() {
    App app = resnet50_app({224, 224});
    // every kind of block: the first of a group with and without a stride, and one that follows
    Resnet50::Options options = options_of({32, 32});
    options.blocks = {1, 2, 1, 1};
    App reduced = network(options);
    reduced.small = {{32, 32}};
    app.reduced = std::make_shared<App>(reduced);
    return {app};
}

}  // namespace apps
