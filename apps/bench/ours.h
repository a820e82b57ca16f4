// Our own variants of an application.
#pragma once

#include "apps/bench/variant.h"

#include <pipe/buffer.h>

namespace bench {

/// naive, hand and auto, compiled, with the times that compiling took.
std::vector<Variant> our_variants(const apps::App &app, const Array &input, const Array &output,
                                  int threads);

/// The array as a Buffer of the same memory.
Pipe::Buffer<> view(const Array &array);

} // namespace bench
