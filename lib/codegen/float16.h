#pragma once
// Casts from and to 16-bit floats. In registers they are 16-bit integers: arithmetic on them is
// done in float32 (lower/widen_floats.h), so only casts need to handle them.

#include "codegen/values.h"
#include <pipe/target.h>

namespace Pipe::codegen {

/// The bits of a number.
int64_t float16_bits(Type type, double value);

/// Emits any cast; those without 16-bit floats are passed to emit_cast.
llvm::Value *emit_any_cast(Builder &b, const Target &target, Type from, Type to, llvm::Value *x);

}  // namespace Pipe::codegen
