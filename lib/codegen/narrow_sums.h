#pragma once
// Sums of neighboring lanes by the instructions for ir/narrow_term.h.

#include "codegen/values.h"
#include "ir/narrow_term.h"
#include <pipe/target.h>

namespace Pipe::codegen {

/// \param x, y  the term's operands
/// \param type  of the sums
/// \pre the target has the instruction
llvm::Value *emit_narrow_sums(Builder &b, const Target &target, const ir::NarrowTerm &term,
                              llvm::Value *x, llvm::Value *y, Type type);

}  // namespace Pipe::codegen
