#pragma once
// An LLVM pass that gathers by loads of single lanes where the processor's instruction is slow, or missing. Internal to
// codegen/.

#include <string>

#include <llvm/IR/PassManager.h>

namespace Pipe::codegen {

/// Where LLVM would split a gather without a mask, its addresses would be computed as vectors of 64 bits, of which each lane
/// is then taken. Instead, lanes of the index are taken as they are, mostly 32 bits, and are added to a common base by the
/// load itself:
///
///     pointers = base + sext(index) + splat(row)              p = base + row
///     v = gather(pointers)                             ->     v = { p[index[0]], p[index[1]], ... }
///
/// To be run late: as one instruction, equal gathers are found by LLVM's passes.
class ScalarGathers : public llvm::PassInfoMixin<ScalarGathers> {
  public:
    /// \param processor  LLVM's name
    explicit ScalarGathers(llvm::StringRef processor) : processor_(processor) {}
    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);

  private:
    std::string processor_;
};

}  // namespace Pipe::codegen
