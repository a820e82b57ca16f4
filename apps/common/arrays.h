// Arrays with the shapes and values of the registry, for the demo, the tests and the benchmark.
#pragma once

#include "apps/common/registry.h"

#include <pipe/pipe.h>

#include <functional>
#include <vector>

namespace apps {

/// Allocates dense memory, x innermost; or, if interleaved, the last dimension inside x.
Pipe::Buffer<> make_array(Pipe::Type type, const Box &box, bool interleaved = false);

/// Sets every element to `value(p)`, converted to the type of the array.
void fill(const Pipe::Buffer<> &array, const std::function<double(const Point &)> &value);

/// The test data for each input of the application.
std::vector<Pipe::Buffer<>> make_inputs(const App &app, const Program &program, Size size);

/// Memory for the application's output.
Pipe::Buffer<> make_output(const App &app, const Program &program, Size size);

/// Sets the inputs of the program.
void set_inputs(Program &program, const std::vector<Pipe::Buffer<>> &inputs);

/// A copy of the same shape.
Pipe::Buffer<double> as_doubles(const Pipe::Buffer<> &array);

/// Largest |a|.
double max_abs(const Pipe::Buffer<> &a);

/// Largest |a - b| of two arrays of the same shape; a NaN in only one of them counts as infinite.
double max_abs_difference(const Pipe::Buffer<> &a, const Pipe::Buffer<> &b);

}  // namespace apps
