// Arrays of the table's shapes and values, for the demo, the tests and the benchmark.
#pragma once

#include "apps/common/registry.h"

#include <pipe/pipe.h>

#include <functional>
#include <vector>

namespace apps {

/// New dense memory, x innermost; or, interleaved, the last dimension before x.
Pipe::Buffer<> make_array(Pipe::Type type, const Box &box, bool interleaved = false);

/// Sets every element to `value(p)`, converted to the type of the array.
void fill(const Pipe::Buffer<> &array, const std::function<double(const Point &)> &value);

/// The test input of the application for each of its inputs.
std::vector<Pipe::Buffer<>> make_inputs(const App &app, const Program &program, Size size);

/// Memory for its output.
Pipe::Buffer<> make_output(const App &app, const Program &program, Size size);

/// Gives the program these inputs.
void set_inputs(Program &program, const std::vector<Pipe::Buffer<>> &inputs);

/// A copy of the same shape.
Pipe::Buffer<double> as_doubles(const Pipe::Buffer<> &array);

/// Largest |a|.
double max_abs(const Pipe::Buffer<> &a);

/// Largest |a - b| of two arrays of one shape; a NaN on one side only counts as infinite.
double max_abs_difference(const Pipe::Buffer<> &a, const Pipe::Buffer<> &b);

}  // namespace apps
