#include "apps/common/inputs.h"
#include "apps/interpolate/interpolate.h"

namespace apps {

std::vector<App> interpolate_apps() {
    auto rgba = [](Size s) -> Box { return {{0, s.width}, {0, s.height}, {0, 4}}; };

    App polymage{};
    polymage.name = "interpolate";
    polymage.title = "multiscale interpolation, zero ghosts (4.1)";
    polymage.size = {1536, 2560};
    polymage.make = [] { return std::make_unique<Interpolate>(); };
    polymage.inputs = {{rgba, [](const Point &p, Size) {
                            const int hashed = u8(p[1], p[0], p[2]);
                            return p[2] == 3 ? (1 + hashed % 4) / 4.0 : hashed / 255.0;
                        }}};
    polymage.output_box = planes;
    polymage.tolerance = 1e-5;
    polymage.small = {{1, 1}, {7, 5}, {33, 3}, {32, 64}};
    polymage.counted = {256, 256};

    App halide = polymage;
    halide.name = "interpolate_halide";
    halide.title = "multiscale interpolation, repeated edges (4.2)";
    halide.make = [] { return std::make_unique<InterpolateHalide>(); };
    halide.inputs = {{rgba, [](const Point &p, Size) {
                          const int hashed = u8(p[0], p[1], p[2]);
                          return p[2] == 3 ? (1 + hashed % 4) / 4.0 : hashed / 255.0;
                      }}};
    return {polymage, halide};
}

}  // namespace apps
