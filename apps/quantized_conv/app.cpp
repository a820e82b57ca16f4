#include "apps/common/inputs.h"
#include "apps/quantized_conv/quantized_conv.h"

namespace apps {

std::vector<App> quantized_conv_apps() {
    App app{};
    app.name = "quantized_conv";
    app.title = "quantize, 3x3 convolution, ReLU (15)";
    app.size = {4094, 4094};
    app.make = [] { return std::make_unique<QuantizedConv>(); };
    // a third beyond the range of the quantizer, so that it saturates
    app.inputs = {{[](Size s) {
                       return plane({s.width + 2, s.height + 2});
                   },
                   [](const Point &p, Size) { return (u12(p[1], p[0], 0) - 2048) / 192.0; }}};
    app.output_box = plane;
    app.flops = flops_per_pixel(18);
    app.small = awkward_sizes();
    return {app};
}

}  // namespace apps
