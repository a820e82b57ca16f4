#pragma once
// Kernels: loads before divisions.
//
// ptxas makes a branch of each division or square root that is rounded as IEEE 754 says, for operands that are very small
// or large, and moves no load above a branch: of `(a[i] + b) / 3`, `(a[i + 1] + b) / 3`, .. each load would wait until
// the one before has arrived. What is loaded first is on its way at the same time.

#include <llvm/IR/Module.h>

namespace Pipe::codegen {

/// Within each basic block, moves loads in front of the first such operation, with the addresses that they need, where
/// neither these depend on it nor the memory may be stored to in between.
void move_loads_before_divisions(llvm::Module &module);

}  // namespace Pipe::codegen
