#pragma once
// An LLVM pass that shares common addends of sums. Internal to codegen/.

#include <llvm/IR/PassManager.h>

namespace Pipe::codegen {

/// Computes the common part of several sums once, as a sum with which the others begin: if several
/// rows of a stencil are computed together, each is the sum of its window, and the windows overlap.
///
///     u = a + b + c + d            t = b + c + d;  u = t + a
///     v = b + c + d + e     ->                     v = t + e
///
/// Every sum stays a chain, in which each product that is added becomes part of a fused
/// multiply-add. (LLVM's Reassociate shares pairs; the product of a pair cannot be fused, and more
/// values are live at a time.) Only for vector and float sums; for floats, if they may be
/// reassociated.
struct ShareSums : llvm::PassInfoMixin<ShareSums> {
    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

}  // namespace Pipe::codegen
