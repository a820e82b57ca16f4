#include "apps/common/inputs.h"
#include "apps/pyramid_blend/pyramid_blend.h"

namespace apps {

std::vector<App> pyramid_blend_apps() {
    auto padded = [](Size s) { return planes({s.width + 60, s.height + 60}); };

    App app{};
    app.name = "pyramid_blend";
    app.title = "pyramid blending, 4 levels (7.1)";
    app.size = {3840, 2160};
    app.make = [] { return std::make_unique<PyramidBlend>(); };
    app.inputs = {
        {padded, [](const Point &p, Size) { return u8(p[1], p[0], p[2]) / 255.0; }},
        {padded, [](const Point &p, Size) { return u8(p[1], p[0], p[2] + 3) / 255.0; }},
        {[](Size s) {
             return plane({s.width + 60, s.height + 60});
         },
         // the mask: a step at 40 % of the padded rows; for the golden values at row 50 of 92
         [](const Point &p, Size s) {
             const int step = s.height == 32 ? 50 : (s.height + 60) * 2 / 5;
             return p[1] < step ? 0 : 1;
         }}};
    app.output_box = [](Size s) -> Box { return {{31, s.width}, {31, s.height}, {0, 3}}; };
    app.tolerance = 2e-6;
    app.small = {{1, 1}, {7, 5}, {33, 3}, {3, 40}};
    return {app};
}

}  // namespace apps
