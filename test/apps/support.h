// Runs an application of the registry under each schedule, for the tests.
#pragma once

#include "apps/common/registry.h"

#include <pipe/pipe.h>

#include <functional>
#include <memory>
#include <string>

namespace app_test {

enum class Way { Reference, Naive, Hand, Auto };

/// The ways that use the compiler.
inline constexpr Way compiled[] = {Way::Naive, Way::Hand, Way::Auto};

const char *name_of(Way way);

using Pixel = std::function<double(int x, int y, int c)>;

/// The output of `program`, an instance of `app`, for an output of that size.
Pipe::Buffer<double> run(const apps::App &app, apps::Program &program, apps::Size size,
                         const Pixel &pixel, Way way);

/// The same for a new instance and the application's own test input.
Pipe::Buffer<double> run(const apps::App &app, apps::Size size, Way way);

double sum(const Pipe::Buffer<double> &b);
double min(const Pipe::Buffer<double> &b);
double max(const Pipe::Buffer<double> &b);
double max_abs(const Pipe::Buffer<double> &b);
double max_abs_difference(const Pipe::Buffer<double> &a, const Pipe::Buffer<double> &b);

} // namespace app_test
