#include "apps/common/inputs.h"
#include "apps/interleaved/interleaved.h"

namespace apps {

namespace {

App entry(const char *name, const char *title, Interleaved::Kind kind) {
    App app{};
    app.name = name;
    app.title = title;
    app.size = {4096, 3072};
    app.make = [kind] { return std::make_unique<Interleaved>(kind); };
    using Kind = Interleaved::Kind;
    app.inputs = {{planes, [](const Point &p, Size) { return u8(p[0], p[1], p[2]); },
                   kind != Kind::FromPlanes}};
    app.output_box = kind == Kind::ToGray ? plane : planes;
    app.interleaved_output = kind != Kind::ToGray;
    app.small = awkward_sizes();
    return app;
}

}  // namespace

std::vector<App> interleaved_apps() {
    using Kind = Interleaved::Kind;
    return {entry("interleave", "planar to interleaved RGB, uint8", Kind::FromPlanes),
            entry("brighten_interleaved", "interleaved RGB, brightened, uint8", Kind::Brighten),
            entry("gray_interleaved", "interleaved RGB to gray, uint8", Kind::ToGray)};
}

}  // namespace apps
