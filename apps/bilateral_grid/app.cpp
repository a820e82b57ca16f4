#include "apps/bilateral_grid/bilateral_grid.h"
#include "apps/common/inputs.h"

namespace apps {

std::vector<App> bilateral_grid_apps() {
    auto pixel = [](const Point &p, Size) { return u8(p[1], p[0], 0) / 256.0; };

    App scatter{};
    scatter.name = "bilateral_grid_a";
    scatter.title = "bilateral grid, scatter (3.1)";
    scatter.size = {1536, 2560};
    scatter.make = [] { return std::make_unique<BilateralGridScatter>(); };
    scatter.inputs = {{plane, pixel}};
    scatter.output_box = plane;
    scatter.tolerance = 1e-5;
    scatter.small = {{1, 1}, {7, 5}, {33, 3}, {3, 70}, {41, 40}};
    scatter.counted = {256, 256};

    App gather9 = scatter;
    gather9.name = "bilateral_grid_b";
    gather9.title = "bilateral grid, gather 9x9 (3.2)";
    gather9.make = [] { return std::make_unique<BilateralGridGather9>(); };
    gather9.inputs = {{[](Size s) {
                           return plane({s.width + 56, s.height + 56});
                       },
                       [=](const Point &p, Size s) {
                           return pixel({std::clamp(p[0] - 24, 0, s.width - 1),
                                         std::clamp(p[1] - 24, 0, s.height - 1)},
                                        s);
                       }}};

    App gather8 = scatter;
    gather8.name = "bilateral_grid_c";
    gather8.title = "bilateral grid, gather 8x8 (3.3)";
    gather8.make = [] { return std::make_unique<BilateralGridGather8>(); };
    return {scatter, gather9, gather8};
}

}  // namespace apps
