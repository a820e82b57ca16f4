#pragma once
// The integer operations of ir/integer_ops.h in LLVM IR, in forms that select good instructions.

#include <optional>
#include <string>
#include <vector>

#include "codegen/values.h"
#include <pipe/target.h>

namespace Pipe::codegen {

/// The intrinsic `name` on operands of these types (scalars or vectors); null if it is not one of
/// them.
llvm::Value *emit_integer_op(Builder &b, const Target &target, const std::string &name,
                             const std::vector<Type> &types,
                             const std::vector<llvm::Value *> &args);

}  // namespace Pipe::codegen
