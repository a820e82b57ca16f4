#pragma once
// How a kernel is called (described in codegen/abi.h), under the names of this room.

#include "codegen/abi.h"

namespace Pipe::jit {
using codegen::BufferArgument;
using codegen::handler_failed;
using codegen::max_dimensions;
using codegen::out_of_memory;
}  // namespace Pipe::jit
