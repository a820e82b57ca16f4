#pragma once
// The memory of a case: inputs, results, and how they differ.

#include <string>

#include "fuzz/algorithm.h"
#include "support/guarded_memory.h"

namespace Pipe::fuzz {

using testing::GuardedBuffer;

/// Thrown where a case is not worth its memory and time.
struct TooLarge {};

double points(const Box &box);

/// `any_layout`: dimensions in any order, mirrored, with steps between the elements.
GuardedBuffer allocate(Type type, const Box &box, Choices &choices, bool any_layout = false);

/// Pixels that depend on nothing but their place, within what Generator::add_image promises.
void fill(const Buffer<void> &buffer, uint64_t salt);

/// "" or where and how the first difference is.
std::string difference(const std::string &name, const GuardedBuffer &got,
                       const GuardedBuffer &expected, double tolerance);

}  // namespace Pipe::fuzz
