#pragma once
// For programs written for Halide's JIT API.

#include <pipe/pipe.h>

namespace Halide = Pipe;
