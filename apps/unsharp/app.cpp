#include "apps/common/inputs.h"
#include "apps/unsharp/unsharp.h"

namespace apps {

std::vector<App> unsharp_apps() {
    App polymage{};
    polymage.name = "unsharp";
    polymage.title = "unsharp mask, four stages (1.1)";
    polymage.size = {4256, 2832};
    polymage.make = [] { return std::make_unique<Unsharp>(); };
    polymage.inputs = {{[](Size s) -> Box {
                            return {{-2, s.width + 4}, {-2, s.height + 4}, {0, 3}};
                        },
                        [](const Point &p, Size s) {
                            const bool ghost =
                                p[0] < 0 || p[1] < 0 || p[0] >= s.width || p[1] >= s.height;
                            return ghost ? 0 : u8(p[1], p[0], p[2]) / 255.0;
                        }}};
    polymage.output_box = planes;
    polymage.flops = flops_per_pixel(3 * 23);
    polymage.tolerance = 3 * 0.001 + 1e-5;  // where the select flips
    polymage.small = awkward_sizes();

    App halide{};
    halide.name = "unsharp_halide";
    halide.title = "unsharp mask on the luminance (1.2)";
    halide.size = {2560, 1536};
    halide.make = [] { return std::make_unique<UnsharpHalide>(); };
    halide.inputs = {
        {planes, [](const Point &p, Size) { return (1 + u8(p[0], p[1], p[2])) / 256.0; }}};
    halide.output_box = planes;
    halide.flops = flops_per_pixel(31);
    halide.tolerance = 1e-5;
    halide.small = awkward_sizes();
    return {polymage, halide};
}

}  // namespace apps
