#include "apps/multigrid/multigrid.h"

#include "apps/common/inputs.h"

namespace apps {
namespace {

// width = N, the points along an edge of the interior
App cycle(int dimensions, bool w_cycle, bool smooth_after) {
    Multigrid::Options options;
    options.dimensions = dimensions;
    options.w_cycle = w_cycle;
    if (!smooth_after)
        options.before = 10, options.coarsest = options.after = 0;
    auto box = [=](Size s) { return Box(size_t(dimensions), Range{0, s.width + 2}); };

    App app{};
    app.name = "multigrid_" + std::to_string(dimensions) + "d_" + (w_cycle ? "w_" : "v_") +
               (smooth_after ? "4_4_4" : "10_0_0");
    app.title = std::string("one ") + (w_cycle ? "W" : "V") + "-cycle of multigrid in " +
                std::to_string(dimensions) + "D, " + (smooth_after ? "4-4-4" : "10-0-0") + " (8)";
    app.size = dimensions == 2 ? Size{8191, 8191} : Size{255, 255};
    app.make = [=] { return std::make_unique<Multigrid>(options); };
    // problem 1 of section 8.1
    app.inputs = {{box,
                   [=](const Point &p, Size s) {
                       bool inside = true;
                       for (int d = 0; d < dimensions; ++d) {
                           inside = inside && p[size_t(d)] >= 1 && p[size_t(d)] <= s.width;
                       }
                       return inside;
                   }},
                  {box, [](const Point &, Size) { return 0; }}};
    app.output_box = box;
    app.tolerance = 1e-10;
    // (Whole programs compile for tens of seconds: of them, tests run the golden values only.)
    // one smoothing step where there are four, two where there are ten, three levels
    App reduced = app;
    options.before = smooth_after ? 1 : 2;
    options.coarsest = options.after = smooth_after ? 1 : 0;
    options.levels = 3;
    reduced.make = [=] { return std::make_unique<Multigrid>(options); };
    reduced.small = {{7, 7}};
    app.reduced = std::make_shared<App>(reduced);
    return app;
}

}  // namespace

std::vector<App> multigrid_apps() {
    std::vector<App> apps;
    for (int dimensions : {2, 3}) {
        for (bool w_cycle : {false, true}) {
            apps.push_back(cycle(dimensions, w_cycle, true));
            apps.push_back(cycle(dimensions, w_cycle, false));
        }
    }
    return apps;
}

}  // namespace apps
