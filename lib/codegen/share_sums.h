#pragma once
// Sums of one function that have addends in common. Internal to the LLVM room.

#include <llvm/IR/PassManager.h>

namespace Pipe::codegen {

/// Computes what several sums have in common once, as one sum that the others begin with: of the rows of
/// a stencil that are computed together, each is the sum of its window, and windows overlap.
///
///     u = a + b + c + d            t = b + c + d;  u = t + a
///     v = b + c + d + e     ->                     v = t + e
///
/// Every sum stays a chain, in which each product that is added becomes part of a fused
/// multiplication and addition. (LLVM's Reassociate shares pairs; the product of a pair is left without
/// an addition of its own, and more values are live at a time.) Sums of vectors and floats only; of floats
/// those that may be regrouped.
struct ShareSums : llvm::PassInfoMixin<ShareSums> {
    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

}  // namespace Pipe::codegen
