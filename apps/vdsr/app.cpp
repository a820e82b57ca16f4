#include "apps/vdsr/vdsr.h"

#include "apps/common/inputs.h"

namespace apps {

std::vector<App> vdsr_apps() {
    // pictures smaller than the paper's are for tests: fewer features
    static constexpr auto features = [](Size s) { return s.width < 128 ? 6 : 64; };
    static constexpr int layers = 20;
    // out, in: channels; a, b: row and column of the kernel; layers count from 1
    static constexpr auto weight = [](int out, int in, int a, int b, int layer) {
        return (u8(out * 64 + in, a * 3 + b, layer) - 127.5) / 1275;
    };
    App app{};
    app.name = "vdsr";
    app.title = "VDSR, 20 layers (13)";
    app.size = {256, 256};
    app.make = [] { return std::make_unique<Vdsr>(layers); };
    app.inputs = {
        {planes, [](const Point &p, Size) { return u8(p[0], p[1], p[2]); }},
        {[](Size s) -> Box {
             return {{0, features(s)}, {0, 3}, {0, 3}};
         },
         [](const Point &p, Size) { return weight(p[0], 0, p[2], p[1], 1); }},
        {[](Size s) -> Box {
             return {{0, features(s)}, {0, 3}, {0, 3}, {0, features(s)}, {0, layers - 2}};
         },
         [](const Point &p, Size) { return weight(p[0], p[3], p[2], p[1], p[4] + 2); }},
        {[](Size s) -> Box {
             return {{0, features(s)}, {0, 3}, {0, 3}};
         },
         [](const Point &p, Size) { return weight(0, p[0], p[2], p[1], layers); }},
        {[](Size s) -> Box {
             return {{0, features(s)}, {0, layers}};
         },
         [](const Point &p, Size) { return 0.01 * (u8(p[0], 0, p[1] + 1) - 128) / 128; }}};
    app.output_box = planes;
    app.flops = [](Size s) {
        const double f = features(s);
        return 2.0 * 9 * (f * f * (layers - 2) + 2 * f) * s.width * s.height;
    };
    app.tolerance = 1.0 / 128;  // one count
    app.small = {{1, 1}, {7, 5}};
    return {app};
}

}  // namespace apps
