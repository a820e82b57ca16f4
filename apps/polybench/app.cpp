#include "apps/polybench/polybench.h"

#include "apps/common/inputs.h"

namespace apps {
namespace {

Box matrix(int rows, int columns) {
    return {{0, columns}, {0, rows}};
}

// PolyBench's sizes keep the ratio NI : NJ : NK : NL = 8 : 9 : 11 : 12; width = NL, height = NI.
App two_mm() {
    static constexpr auto nj = [](Size s) { return std::max(1, s.height * 9 / 8); };
    static constexpr auto nk = [](Size s) { return std::max(1, s.height * 11 / 8); };
    App app{};
    app.name = "2mm";
    app.title = "PolyBench 2mm, EXTRALARGE (11)";
    app.size = {2400, 1600};
    app.make = [] { return std::make_unique<TwoMm>(); };
    app.inputs = {
        {[](Size s) { return matrix(s.height, nk(s)); },
         [](const Point &p, Size s) {
             return (int64_t(p[1]) * p[0] + 1) % s.height / double(s.height);
         }},
        {[](Size s) { return matrix(nk(s), nj(s)); },
         [](const Point &p, Size s) { return int64_t(p[1]) * (p[0] + 1) % nj(s) / double(nj(s)); }},
        {[](Size s) { return matrix(nj(s), s.width); },
         [](const Point &p, Size s) {
             return (int64_t(p[1]) * (p[0] + 3) + 1) % s.width / double(s.width);
         }},
        {[](Size s) { return matrix(s.height, s.width); },
         [](const Point &p, Size s) {
             return int64_t(p[1]) * (p[0] + 2) % nk(s) / double(nk(s));
         }}};
    app.output_box = plane;
    app.flops = [](Size s) {
        return 2.0 * s.height * nj(s) * nk(s) + 2.0 * s.height * nj(s) * s.width;
    };
    app.tolerance = 1e-10;
    app.small = {{1, 1}, {7, 5}, {33, 3}, {3, 40}, {65, 34}};
    return app;
}

App gemver() {
    auto vector = [](double divisor) {
        return Input{[](Size s) -> Box {
                         return {{0, s.width}};
                     },
                     [=](const Point &p, Size s) { return (p[0] + 1.0) / s.width / divisor; }};
    };
    App app{};
    app.name = "gemver";
    app.title = "PolyBench gemver, EXTRALARGE (11)";
    app.size = {4000, 4000};
    app.make = [] { return std::make_unique<Gemver>(); };
    app.inputs = {
        {[](Size s) { return matrix(s.width, s.width); },
         [](const Point &p, Size s) { return int64_t(p[1]) * p[0] % s.width / double(s.width); }},
        {[](Size s) -> Box {
             return {{0, s.width}};
         },
         [](const Point &p, Size) { return p[0]; }},
        vector(4),
        vector(2),
        vector(6),
        vector(8),
        vector(9)};
    app.output_box = [](Size s) -> Box { return {{0, s.width}}; };
    app.flops = [](Size s) { return 8.0 * s.width * s.width; };
    app.tolerance = 1e-10;
    app.small = {{1, 1}, {7, 7}, {65, 65}};
    return app;
}

// width = M variables, height = N points
App covariance() {
    App app{};
    app.name = "covariance";
    app.title = "PolyBench covariance, EXTRALARGE (11)";
    app.size = {2600, 3000};
    app.make = [] { return std::make_unique<Covariance>(); };
    app.inputs = {
        {plane, [](const Point &p, Size s) { return int64_t(p[1]) * p[0] / double(s.width); }}};
    app.output_box = [](Size s) { return matrix(s.width, s.width); };
    app.flops = [](Size s) { return 1.0 * s.width * s.width * s.height; };
    app.tolerance = 1e-9;
    app.small = {{1, 2}, {7, 5}, {33, 3}, {40, 47}};
    return app;
}

}  // namespace

std::vector<App> polybench_apps() {
    return {two_mm(), gemver(), covariance()};
}

}  // namespace apps
