// The table of all applications: demo, tests and benchmark read it.
#pragma once

#include "apps/common/program.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace apps {

/// Size of an output picture in pixels.
struct Size {
    int width, height;
};

/// One dimension of an array: [min, min + extent).
struct Range {
    int min, extent;
};

/// The shape of an array, x first.
using Box = std::vector<Range>;

struct App {
    std::string name;  ///< as on the command line
    std::string title; ///< for people, with the section of benchmarks.md
    Size size;         ///< of the output, as in the papers

    std::function<std::unique_ptr<Program>()> make;
    std::function<Box(Size)> output_box;
    std::function<Box(Size)> input_box;

    /// The deterministic test input of benchmarks.md, section 0.4, at a coordinate of `input_box`.
    std::function<double(int x, int y, int c, Size)> pixel;

    /// Bits of the unsigned elements of input and output; 0: both are float.
    int integer_bits;
    /// Arithmetic per output pixel (all channels) when every stage is computed once; 0: not float.
    double flops_per_pixel;
    /// Bound on |difference| between two schedules, relative to the output's largest value.
    double tolerance;
};

const std::vector<App> &registry();

/// The application of that name, or null.
const App *find_app(const std::string &name);

} // namespace apps
