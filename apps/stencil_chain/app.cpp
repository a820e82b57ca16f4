#include "apps/common/inputs.h"
#include "apps/stencil_chain/stencil_chain.h"

namespace apps {

std::vector<App> stencil_chain_apps() {
    App app{};
    app.name = "stencil_chain";
    app.title = "32 stencils of 5x5, uint16";
    app.size = {1536, 2560};
    app.make = [] { return std::make_unique<StencilChain>(); };
    // 32 stages of two pixels
    app.inputs = {{[](Size s) -> Box {
                       return {{-64, s.width + 128}, {-64, s.height + 128}};
                   },
                   [](const Point &p, Size) { return u12(p[0], p[1], 0); }}};
    app.output_box = plane;
    app.small = {{1, 1}, {33, 3}, {3, 20}};
    return {app};
}

}  // namespace apps
