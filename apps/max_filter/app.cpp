#include "apps/common/inputs.h"
#include "apps/max_filter/max_filter.h"

namespace apps {

std::vector<App> max_filter_apps() {
    App app{};
    app.name = "max_filter";
    app.title = "max filter, radius 26 (17)";
    app.size = {1920, 1024};
    app.make = [] { return std::make_unique<MaxFilter>(); };
    app.inputs = {{planes, [](const Point &p, Size) { return u8(p[0], p[1], p[2]) / 255.0; }}};
    app.output_box = planes;
    app.small = {{1, 1}, {7, 5}, {33, 3}, {3, 40}};
    return {app};
}

}  // namespace apps
