#pragma once
// The calling convention of kernels (described in codegen/abi.h), under names of this layer.

#include "codegen/abi.h"

namespace Pipe::jit {
using codegen::BufferArgument;
using codegen::handler_failed;
using codegen::max_dimensions;
using codegen::out_of_memory;
}  // namespace Pipe::jit
