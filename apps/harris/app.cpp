#include "apps/common/inputs.h"
#include "apps/harris/harris.h"

namespace apps {

std::vector<App> harris_apps() {
    // Stored indices of section 2.1: the input starts at 0, the response at (2, 2).
    App gray{};
    gray.name = "harris";
    gray.title = "Harris corners, gray (2.1)";
    gray.size = {4256 - 2, 2832 - 2};
    gray.make = [] { return std::make_unique<Harris>(); };
    gray.inputs = {{[](Size s) {
                        return plane({s.width + 4, s.height + 4});
                    },
                    [](const Point &p, Size) { return u8(p[1], p[0], 0) / 255.0; }}};
    gray.output_box = [](Size s) -> Box { return {{2, s.width}, {2, s.height}}; };
    gray.flops = flops_per_pixel(50);
    gray.tolerance = 1e-4;
    gray.small = awkward_sizes();

    App rgb = gray;
    rgb.name = "harris_halide";
    rgb.title = "Harris corners, RGB (2.2)";
    rgb.size = {2560 - 6, 1536 - 6};
    rgb.make = [] { return std::make_unique<HarrisHalide>(); };
    // Three pixels more on each side would do; a wider frame costs nothing and lets Halide's
    // Adams2019, whose code asks for more than the formula needs, take part in the benchmark.
    rgb.inputs = {{[](Size s) -> Box {
                       return {{-5, s.width + 16}, {-5, s.height + 16}, {0, 3}};
                   },
                   [](const Point &p, Size) { return u8(p[1], p[0], p[2]) / 255.0; }}};
    rgb.output_box = [](Size s) -> Box { return {{3, s.width}, {3, s.height}}; };
    rgb.flops = flops_per_pixel(55);
    return {gray, rgb};
}

}  // namespace apps
