#include "apps/blur/blur.h"
#include "apps/common/inputs.h"

namespace apps {

std::vector<App> blur_apps() {
    App integer{};
    integer.name = "blur";
    integer.title = "two-pass blur, uint16 (16)";
    integer.size = {6400, 4800};
    integer.make = [] { return std::make_unique<Blur>(); };
    integer.inputs = {{[](Size s) {
                           return plane({s.width + 2, s.height + 2});
                       },
                       [](const Point &p, Size) { return u12(p[0], p[1], 0); }}};
    integer.output_box = plane;
    integer.small = awkward_sizes();

    App real = integer;
    real.name = "blur_float";
    real.title = "two-pass blur, float (16)";
    real.size = {4096, 4096};
    real.make = [] { return std::make_unique<Blur>(dsl::Float(32)); };
    real.flops = flops_per_pixel(6);
    real.tolerance = 1e-6;
    return {integer, real};
}

}  // namespace apps
