#pragma once
// LLVM IR -> better LLVM IR -> machine code. Internal to the LLVM room.

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <pipe/target.h>

namespace Pipe::codegen {

/// Runs our list of passes. The loops come vectorized and unrolled as the schedule says, so the
/// list is short: registers for local arrays, common subexpressions, invariant code out of loops.
/// With Target::QuickCompile: only what makes less work for the steps after it.
void optimize(llvm::Module &module, llvm::TargetMachine &machine, const Target &target);

/// Machine code for an optimized module: an object file, or assembly as text.
llvm::SmallVector<char, 0> generate(llvm::Module &module, llvm::TargetMachine &machine,
                                    llvm::CodeGenFileType kind);

}  // namespace Pipe::codegen
