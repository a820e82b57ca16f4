#include "codegen/optimize.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/Reassociate.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "codegen/scalar_gathers.h"
#include "codegen/share_sums.h"
#include <pipe/error.h>

namespace Pipe::codegen {

namespace {

/// Fully unrolls small loops of constant extent (the taps of a kernel), except around loops that
/// remain: copying those makes the code larger but not faster, and LLVM's later loop passes
/// (strength reduction above all) take far longer.
struct UnrollSmallLoops : llvm::PassInfoMixin<UnrollSmallLoops> {
    llvm::LoopFullUnrollPass unroll{3};
    llvm::PreservedAnalyses run(llvm::Loop &loop, llvm::LoopAnalysisManager &analyses,
                                llvm::LoopStandardAnalysisResults &results,
                                llvm::LPMUpdater &updater) {
        if (!loop.isInnermost())
            return llvm::PreservedAnalyses::all();
        return unroll.run(loop, analyses, results, updater);
    }
};

llvm::FunctionPassManager pass_list(const llvm::TargetMachine &machine, const Target &target) {
    using namespace llvm;
    FunctionPassManager passes;
    passes.addPass(SROAPass(SROAOptions::ModifyCFG));
    passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
    if (target.has_feature(Target::QuickCompile))
        return passes;
    passes.addPass(InstCombinePass());
    passes.addPass(SimplifyCFGPass());

    passes.addPass(createFunctionToLoopPassAdaptor(UnrollSmallLoops(), /*UseMemorySSA=*/false));
    passes.addPass(
        SROAPass(SROAOptions::ModifyCFG));  // arrays with constant indices become registers

    if (target.has_feature(Target::FastMath))
        passes.addPass(ReassociatePass());  // factors out common terms of sums
    LoopPassManager loops;
    loops.addPass(LICMPass(LICMOptions()));
    passes.addPass(createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
    passes.addPass(GVNPass());
    passes.addPass(InstCombinePass());
    if (target.has_feature(Target::FastMath))
        passes.addPass(ShareSums());
    passes.addPass(ScalarGathers(machine.getTargetCPU()));
    LoopPassManager again;
    again.addPass(LICMPass(LICMOptions()));
    passes.addPass(createFunctionToLoopPassAdaptor(std::move(again), /*UseMemorySSA=*/true));
    passes.addPass(SimplifyCFGPass());
    passes.addPass(ADCEPass());
    return passes;
}

}  // namespace

void optimize(llvm::Module &module, llvm::TargetMachine &machine, const Target &target) {
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder builder(&machine);
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);

    llvm::ModulePassManager all;
    if (machine.getTargetTriple().isNVPTX()) {  // functions of libraries
        all.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
        all.addPass(llvm::GlobalDCEPass());
    }
    all.addPass(llvm::createModuleToFunctionPassAdaptor(pass_list(machine, target)));
    all.run(module, modules);
}

llvm::SmallVector<char, 0> generate(llvm::Module &module, llvm::TargetMachine &machine,
                                    llvm::CodeGenFileType kind) {
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    llvm::legacy::PassManager passes;
    if (machine.addPassesToEmitFile(passes, stream, nullptr, kind, /*DisableVerify=*/true)) {
        throw InternalError("LLVM cannot write this kind of file for the target");
    }
    passes.run(module);
    return bytes;
}

}  // namespace Pipe::codegen
