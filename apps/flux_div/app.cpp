#include "apps/flux_div/flux_div.h"

#include "apps/common/inputs.h"

namespace apps {

std::vector<App> flux_div_apps() {
    App app{};
    app.name = "flux_div";
    app.title = "MiniFluxDiv, one box (9)";
    app.size = {128, 128};  // width, and height and depth
    app.make = [] { return std::make_unique<FluxDiv>(); };
    app.inputs = {{[](Size s) -> Box {
                       return {{-2, s.width + 4}, {-2, s.height + 4}, {-2, s.height + 4}, {0, 5}};
                   },
                   [](const Point &p, Size) { return u8(p[0], p[1], p[2] * 5 + p[3]) / 255.0; }}};
    app.output_box = [](Size s) -> Box {
        return {{0, s.width}, {0, s.height}, {0, s.height}, {0, 5}};
    };
    app.flops = [](Size s) { return 5.0 * 30 * s.width * s.height * s.height; };
    app.tolerance = 1e-12;
    app.small = {{1, 1}, {7, 5}, {33, 3}, {3, 11}};
    return {app};
}

}  // namespace apps
