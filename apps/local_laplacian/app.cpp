#include "apps/common/inputs.h"
#include "apps/local_laplacian/local_laplacian.h"

namespace apps {

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

    App halide = polymage;
    halide.name = "local_laplacian_halide";
    halide.title = "local Laplacian, repeated edges (6, Halide)";
    halide.make = [] { return std::make_unique<LocalLaplacian>(LocalLaplacian::Options()); };
    halide.inputs = {{planes, [](const Point &p, Size) { return u8(p[0], p[1], p[2]) * 256.0; }}};
    return {polymage, halide};
}

}  // namespace apps
