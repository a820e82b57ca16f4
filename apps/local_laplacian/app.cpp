#include "apps/common/inputs.h"
#include "apps/local_laplacian/local_laplacian.h"

namespace apps {
namespace {

/// Four levels, of which two lie between the finest and the coarsest.
App with_four_levels(App app, LocalLaplacian::Form form) {
    app.make = [=] {
        LocalLaplacian::Options options;
        options.form = form;
        options.levels = 4;
        return std::make_unique<LocalLaplacian>(options);
    };
    return app;
}

}  // namespace

std::vector<App> local_laplacian_apps() {
    App polymage{};
    polymage.name = "local_laplacian";
    polymage.title = "local Laplacian, zero ghosts (6, PolyMage)";
    polymage.size = {1536, 2560};
    polymage.make = [] {
        LocalLaplacian::Options options;
        options.form = LocalLaplacian::Form::PolyMage;
        return std::make_unique<LocalLaplacian>(options);
    };
    polymage.inputs = {{planes, [](const Point &p, Size) { return u8(p[1], p[0], p[2]) * 256.0; }}};
    polymage.output_box = planes;
    // an index of the table that flips moves the gray result by 1/7/256, see section 6.4
    polymage.tolerance = 1e-2;
    polymage.small = {{1, 1}, {7, 5}, {33, 3}, {32, 40}};
    polymage.counted = {256, 256};

    App halide = polymage;
    halide.name = "local_laplacian_halide";
    halide.title = "local Laplacian, repeated edges (6, Halide)";
    halide.make = [] { return std::make_unique<LocalLaplacian>(LocalLaplacian::Options()); };
    halide.inputs = {{planes, [](const Point &p, Size) { return u8(p[0], p[1], p[2]) * 256.0; }}};
    polymage.reduced =
        std::make_shared<App>(with_four_levels(polymage, LocalLaplacian::Form::PolyMage));
    halide.reduced = std::make_shared<App>(with_four_levels(halide, LocalLaplacian::Form::Halide));
    return {polymage, halide};
}

}  // namespace apps
