// The table of all applications: tests and benchmark read it, a demo its own entries.
#pragma once

#include "apps/common/program.h"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace apps {

/// The size of a problem: of the output picture in pixels, or what the entry says of it.
struct Size {
    int width, height;
};

/// One dimension of an array: [min, min + extent).
struct Range {
    int min, extent;
};

/// The shape of an array, x first.
using Box = std::vector<Range>;

/// Coordinates of an element, x first; 0 where the array has no such dimension.
using Point = std::array<int, 5>;

/// One input of an application.
struct Input {
    std::function<Box(Size)> box;
    /// The deterministic test input at a coordinate of the box: a hash of the coordinates
    /// (docs/benchmarks.md, "Applications"), unless the application defines its own.
    std::function<double(const Point &, Size)> value;
    /// Of (x, y, channel): the channels of a point lie next to each other in memory.
    bool interleaved = false;
};

struct App {
    std::string name;   ///< as on the command line
    std::string title;  ///< for people, with its number in docs/benchmarks.md
    Size size;          ///< as in the papers

    std::function<std::unique_ptr<Program>()> make;
    std::vector<Input> inputs;  ///< of the program, in its order
    std::function<Box(Size)> output_box;
    bool interleaved_output = false;  ///< as Input::interleaved

    /// Arithmetic of the whole problem when every stage is computed once; 0: not counted.
    std::function<double(Size)> flops;
    /// Bound on |difference| between two schedules, relative to the output's largest value; 0 for
    /// integers, which must agree exactly.
    double tolerance;
    /// Problems of awkward sizes, small enough for the reference evaluator. Empty where only the reduced program has them.
    std::vector<Size> small;
    /// At which the accesses of kernels are counted, where those of `small` are smaller than the tiles that are chosen for
    /// `size`; else empty.
    Size counted{};
    /// The same with fewer levels, steps or layers, where the program has so many that tests cannot
    /// compile it dozens of times; else null.
    std::shared_ptr<const App> reduced = nullptr;
};

// Every application has an entry here.
#define PIPE_APPLICATIONS(entry)                                                                   \
    entry(blur) entry(unsharp) entry(harris) entry(bilateral_grid) entry(interpolate)              \
        entry(local_laplacian) entry(pyramid_blend) entry(camera_pipe) entry(max_filter)           \
            entry(nl_means) entry(stencil_chain) entry(lens_blur) entry(quantized_conv)            \
                entry(conv_layer) entry(conv_bn) entry(flux_div) entry(polybench) entry(multigrid) \
                    entry(vdsr) entry(resnet50) entry(interleaved)

// blur_apps() and so on: the rows that apps/<name>/app.cpp gives to the table.
#define PIPE_DECLARE_APPS(name) std::vector<App> name##_apps();
PIPE_APPLICATIONS(PIPE_DECLARE_APPS)
#undef PIPE_DECLARE_APPS

/// The rows of all applications.
const std::vector<App> &registry();

/// The application of that name, or null.
const App *find_app(const std::string &name);

}  // namespace apps
