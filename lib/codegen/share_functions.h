#pragma once
// The functions of a large module are shared among several, which are optimized and translated at the same time.
// Internal to codegen/.

#include <vector>

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>

namespace Pipe::codegen {

/// LLVM bitcode of modules that together are `module`, which is changed: what was internal is visible to the others.
/// At most `most`, and only as many as are worth a thread each: often one.
std::vector<llvm::SmallVector<char, 0>> share_functions(llvm::Module &module, int most);

/// As many modules as share_functions() would make.
int shares_of(const llvm::Module &module, int most);

}  // namespace Pipe::codegen
