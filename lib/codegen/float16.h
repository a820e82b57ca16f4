#pragma once
// Casts from and to floats of 16 bits. In registers they are integers of 16 bits: arithmetic on
// them is done as float (lower/widen_floats.h), so nothing but casts needs to know them.

#include "codegen/values.h"
#include <pipe/target.h>

namespace Pipe::codegen {

/// The bits of a number.
int64_t float16_bits(Type type, double value);

/// Any cast; those that involve no float of 16 bits are emit_cast's.
llvm::Value *emit_any_cast(Builder &b, const Target &target, Type from, Type to, llvm::Value *x);

}  // namespace Pipe::codegen
