// Runs an application of the registry under each schedule, for the tests.
#pragma once

#include "apps/common/arrays.h"
#include "apps/common/way.h"

#include <catch2/catch_test_macros.hpp>
#include <pipe/pipe.h>

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace app_test {

using apps::max_abs;
using apps::max_abs_difference;
using apps::name_of;
using apps::Way;

inline constexpr Way all[] = {Way::Reference, Way::Naive, Way::Hand, Way::Auto};
/// The ways that use the compiler.
inline constexpr Way compiled[] = {Way::Naive, Way::Hand, Way::Auto};

/// The application of that name; the test fails where there is none.
const apps::App &app_named(const std::string &name);

/// Schedules `pipeline`, of stages of `program`, that way.
void schedule(apps::Program &program, Pipe::Pipeline &pipeline, Way way);

using Pixel = std::function<double(int x, int y, int c)>;

/// An application under one schedule, compiled by the first run: for several runs.
class Scheduled {
  public:
    Scheduled(const apps::App &app, Way way);

    /// The output of that size on these inputs, on the test's, or where input 0 has these pixels.
    Pipe::Buffer<double> run(apps::Size size, const std::vector<Pipe::Buffer<>> &inputs);
    Pipe::Buffer<double> run(apps::Size size);
    Pipe::Buffer<double> run(apps::Size size, const Pixel &pixel);

  private:
    const apps::App &app_;
    const Way way_;
    const std::unique_ptr<apps::Program> program_;
    Pipe::Pipeline pipeline_;
};

/// The value of `stage`, one of `program`'s, on `box`, with the program's inputs set already.
Pipe::Buffer<double> run_stage(apps::Program &program, const Pipe::Func &stage,
                               const apps::Box &box, Way way);

/// The output of `program`, an instance of `app`, for an output of that size, on these inputs.
Pipe::Buffer<double> run(const apps::App &app, apps::Program &program, apps::Size size,
                         const std::vector<Pipe::Buffer<>> &inputs, Way way);

/// The same where input 0 has these pixels and the others are the test's.
Pipe::Buffer<double> run(const apps::App &app, apps::Program &program, apps::Size size,
                         const Pixel &pixel, Way way);
Pipe::Buffer<double> run_on(const std::string &name, apps::Size size, const Pixel &pixel, Way way);

/// The same on the application's own test input; of a new instance where none is given.
Pipe::Buffer<double> run(const char *name, apps::Program &program, apps::Size size, Way way);
Pipe::Buffer<double> run(const apps::App &app, apps::Size size, Way way);

double sum(const Pipe::Buffer<double> &b);
double min(const Pipe::Buffer<double> &b);
double max(const Pipe::Buffer<double> &b);

/// Largest |out - expected(x, y, c)| over the output, `border` pixels left out on each side.
double error(const Pipe::Buffer<double> &out, const Pixel &expected, int border = 0);

#define CHECK_NEAR(actual, expected, tolerance)                                                    \
    do {                                                                                           \
        INFO("expected " << (expected) << " +- " << (tolerance) << ", got " << (actual));          \
        CHECK(std::abs((actual) - (expected)) <= (tolerance));                                     \
    } while (false)

/// Values computed by a separate program.
struct GoldenOutput {
    struct Element {
        int x, y, c;
        double value;
    };
    double tolerance;  ///< of an element, and of an element's share in the sum
    std::vector<Element> elements;
    double sum;
    std::optional<double> min = {}, max = {};
};

void check_golden(const Pipe::Buffer<double> &out, const GoldenOutput &golden);

}  // namespace app_test
