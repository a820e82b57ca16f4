#pragma once
// Comparing the results of two schedules.

#include <cstddef>
#include <vector>

#include <pipe/buffer.h>
#include <pipe/realization.h>

namespace Pipe::driver {

/// Copies of the Buffers' elements.
std::vector<Buffer<void>> copy_of(const Realization &outputs);

/// Sets every byte of every element to a value that is unlikely in results, so that elements which are
/// not computed are noticed.
void poison(const Realization &outputs);

/// How the outputs differ from what is expected: "output 0 is 3 at (5, 0), but 4 was expected; 17 of
/// 100 elements differ". "" if they do not: integers are equal, floats differ by at most `tolerance`
/// times the largest finite magnitude expected in the Buffer, NaN is at the same places.
std::string output_difference(const Realization &outputs, const std::vector<Buffer<void>> &expected,
                              double tolerance);

}  // namespace Pipe::driver
