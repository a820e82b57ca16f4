#include "apps/camera_pipe/camera_pipe.h"
#include "apps/common/inputs.h"

namespace apps {

std::vector<App> camera_pipe_apps() {
    // Both forms in the coordinates of the raw data: the output starts at column 16 of row 12.
    App polymage{};
    polymage.name = "camera_pipe";
    polymage.title = "camera pipeline (5, PolyMage)";
    polymage.size = {2528, 1920};
    polymage.make = [] { return std::make_unique<CameraPipe>(CameraPipe::Form::PolyMage); };
    polymage.inputs = {{[](Size s) {
                            return plane({s.width + 64, s.height + 48});
                        },
                        [](const Point &p, Size) { return u10(p[1], p[0], 0); }}};
    polymage.output_box = [](Size s) -> Box { return {{16, s.width}, {12, s.height}, {0, 3}}; };
    polymage.small = awkward_sizes();

    App halide = polymage;
    halide.name = "camera_pipe_halide";
    halide.title = "camera pipeline, sharpened (5, Halide)";
    halide.size = {2560, 1920};
    halide.make = [] { return std::make_unique<CameraPipe>(CameraPipe::Form::Halide); };
    halide.inputs[0].box = [](Size s) { return plane({s.width + 32, s.height + 48}); };
    return {polymage, halide};
}

}  // namespace apps
