#include "apps/common/registry.h"

#include "apps/blur/blur.h"
#include "apps/harris/harris.h"
#include "apps/unsharp/unsharp.h"

#include <cstdint>

namespace apps {
namespace {

// The hash of benchmarks.md, section 0.4, and its top 8 and 12 bits.
uint32_t hash(uint32_t a, uint32_t b, uint32_t k) {
    return ((a * 73856093u) ^ (b * 19349663u) ^ (k * 83492791u)) * 2654435761u;
}
double u8(int a, int b, int k) { return hash(a, b, k) >> 24; }
double u12(int a, int b, int k) { return hash(a, b, k) >> 20; }

Box plane(Size s) { return {{0, s.width}, {0, s.height}}; }
Box planes(Size s) { return {{0, s.width}, {0, s.height}, {0, 3}}; }

App blur_app() {
    App app{};
    app.name = "blur";
    app.title = "two-pass blur, uint16 (16)";
    app.size = {6400, 4800};
    app.make = [] { return std::make_unique<Blur>(); };
    app.output_box = plane;
    app.input_box = [](Size s) { return plane({s.width + 2, s.height + 2}); };
    app.pixel = [](int x, int y, int, Size) { return u12(x, y, 0); };
    app.integer_bits = 16;
    return app;
}

App blur_float_app() {
    App app = blur_app();
    app.name = "blur_float";
    app.title = "two-pass blur, float (16)";
    app.size = {4096, 4096};
    app.make = [] { return std::make_unique<Blur>(dsl::Float(32)); };
    app.integer_bits = 0;
    app.flops_per_pixel = 6;
    app.tolerance = 1e-6;
    return app;
}

App unsharp_app() {
    App app{};
    app.name = "unsharp";
    app.title = "unsharp mask, four stages (1.1)";
    app.size = {4256, 2832};
    app.make = [] { return std::make_unique<Unsharp>(); };
    app.output_box = planes;
    app.input_box = [](Size s) -> Box { return {{-2, s.width + 4}, {-2, s.height + 4}, {0, 3}}; };
    app.pixel = [](int x, int y, int c, Size s) {
        const bool ghost = x < 0 || y < 0 || x >= s.width || y >= s.height;
        return ghost ? 0 : u8(y, x, c) / 255;
    };
    app.flops_per_pixel = 3 * 23;
    app.tolerance = 3 * 0.001 + 1e-5; // where the select flips
    return app;
}

App unsharp_halide_app() {
    App app{};
    app.name = "unsharp_halide";
    app.title = "unsharp mask on the luminance (1.2)";
    app.size = {2560, 1536};
    app.make = [] { return std::make_unique<UnsharpHalide>(); };
    app.output_box = planes;
    app.input_box = planes;
    app.pixel = [](int x, int y, int c, Size) { return (1 + u8(x, y, c)) / 256; };
    app.flops_per_pixel = 31;
    app.tolerance = 1e-5;
    return app;
}

// Stored indices of section 2.1: the input starts at 0, the response at (2, 2).
Box harris_output(Size s) { return {{2, s.width}, {2, s.height}}; }

App harris_app() {
    App app{};
    app.name = "harris";
    app.title = "Harris corners, gray (2.1)";
    app.size = {4256 - 2, 2832 - 2};
    app.make = [] { return std::make_unique<Harris>(); };
    app.output_box = harris_output;
    app.input_box = [](Size s) { return plane({s.width + 4, s.height + 4}); };
    app.pixel = [](int x, int y, int, Size) { return u8(y, x, 0) / 255; };
    app.flops_per_pixel = 50;
    app.tolerance = 1e-4;
    return app;
}

App harris_halide_app() {
    App app = harris_app();
    app.name = "harris_halide";
    app.title = "Harris corners, RGB (2.2)";
    app.size = {2560 - 6, 1536 - 6};
    app.make = [] { return std::make_unique<HarrisHalide>(); };
    app.output_box = [](Size s) -> Box { return {{3, s.width}, {3, s.height}}; };
    // Three pixels more on each side would do; a wider frame costs nothing and lets Halide's
    // Adams2019, whose code asks for more than the formula needs, take part in the benchmark.
    app.input_box = [](Size s) -> Box { return {{-5, s.width + 16}, {-5, s.height + 16}, {0, 3}}; };
    app.pixel = [](int x, int y, int c, Size) { return u8(y, x, c) / 255; };
    app.flops_per_pixel = 55;
    return app;
}

} // namespace

const std::vector<App> &registry() {
    static const std::vector<App> apps = {blur_app(),           blur_float_app(), unsharp_app(),
                                          unsharp_halide_app(), harris_app(),     harris_halide_app()};
    return apps;
}

const App *find_app(const std::string &name) {
    for (const App &app : registry()) {
        if (app.name == name) return &app;
    }
    return nullptr;
}

} // namespace apps
