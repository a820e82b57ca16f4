#include "apps/common/inputs.h"
#include "apps/nl_means/nl_means.h"

namespace apps {

std::vector<App> nl_means_apps() {
    App app{};
    app.name = "nl_means";
    app.title = "non-local means (18)";
    app.size = {614, 1024};
    app.make = [] { return std::make_unique<NlMeans>(); };
    app.inputs = {{planes, [](const Point &p, Size) {
                       return ((5 * p[0] + 3 * p[1] + 40 * p[2]) % 64 + u8(p[0], p[1], p[2]) / 8) /
                              255.0;
                   }}};
    app.output_box = planes;
    app.tolerance = 1e-5;
    app.small = {{1, 1}, {7, 5}, {33, 3}, {3, 40}};
    return {app};
}

}  // namespace apps
