#pragma once
// Optimization of LLVM IR, and generation of machine code. Internal to codegen/.

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <pipe/target.h>

namespace Pipe::codegen {

/// Runs our pass pipeline. Loops are already vectorized and unrolled by the schedule, so it is
/// short: promotion of local arrays to registers, common subexpressions, loop-invariant code
/// motion. With Target::QuickCompile: only passes that reduce the work of later steps.
void optimize(llvm::Module &module, llvm::TargetMachine &machine, const Target &target);

/// Machine code for an optimized module: an object file, or assembly as text.
llvm::SmallVector<char, 0> generate(llvm::Module &module, llvm::TargetMachine &machine,
                                    llvm::CodeGenFileType kind);

}  // namespace Pipe::codegen
