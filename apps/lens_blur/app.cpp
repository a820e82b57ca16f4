#include "apps/common/inputs.h"
#include "apps/lens_blur/lens_blur.h"

namespace apps {

std::vector<App> lens_blur_apps() {
    App app{};
    app.name = "lens_blur";
    app.title = "lens blur from a stereo pair (19)";
    app.size = {1536, 2560};
    app.make = [] { return std::make_unique<LensBlur>(LensBlur::Options()); };
    app.inputs = {{planes, [](const Point &p, Size) { return u8(p[0], p[1], p[2]); }},
                  {planes, [](const Point &p, Size) { return u8(p[0] - 10, p[1], p[2]); }}};
    app.output_box = planes;
    app.tolerance = 1e-5;
    app.small = {{1, 1}, {7, 5}, {33, 3}, {20, 24}};
    return {app};
}

}  // namespace apps
