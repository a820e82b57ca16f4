#include "codegen/scalar_gathers.h"

#include <vector>

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

namespace Pipe::codegen {

namespace {

using llvm::Value;

/// The elements at base[lanes], of a type that has the size of the GEP's.
struct Places {
    llvm::Type *element;
    Value *base;
    Value *uniform = nullptr;  ///< added to the index of all lanes
    Value *lanes;
    bool is_unsigned = false;  ///< lanes are to be widened with zeros
};

/// Adds the common parts of the lanes' indices up.
void take_uniform_parts(llvm::IRBuilder<> &b, Places &places) {
    using namespace llvm::PatternMatch;
    Value *a = nullptr, *c = nullptr;
    while (match(places.lanes, m_Add(m_Value(a), m_Value(c)))) {
        if (llvm::getSplatValue(a))
            std::swap(a, c);
        Value *same = llvm::getSplatValue(c);
        if (!same)
            return;
        places.uniform = places.uniform ? b.CreateAdd(places.uniform, same) : same;
        places.lanes = a;
    }
}

/// Whether the pointers are of this form: a base, and the lanes' indices.
bool read_places(llvm::IRBuilder<> &b, Value *pointers, Places &places) {
    auto *gep = llvm::dyn_cast<llvm::GetElementPtrInst>(pointers);
    if (!gep || gep->getNumIndices() != 1 || !gep->getOperand(1)->getType()->isVectorTy())
        return false;
    Value *base = gep->getPointerOperand();
    if (base->getType()->isVectorTy())
        base = llvm::getSplatValue(base);
    if (!base)
        return false;
    places = {gep->getSourceElementType(), base, nullptr, gep->getOperand(1)};
    take_uniform_parts(b, places);
    if (auto *wide = llvm::dyn_cast<llvm::CastInst>(places.lanes))
        if (llvm::isa<llvm::SExtInst, llvm::ZExtInst>(wide)) {
            places.is_unsigned = llvm::isa<llvm::ZExtInst>(wide);
            places.lanes = wide->getOperand(0);
        }
    return true;
}

Value *by_lanes(llvm::IRBuilder<> &b, const llvm::IntrinsicInst &gather, const Places &places,
                llvm::Align align) {
    auto *type = llvm::cast<llvm::FixedVectorType>(gather.getType());
    Value *base =
        places.uniform ? b.CreateGEP(places.element, places.base, places.uniform) : places.base;
    Value *result = llvm::PoisonValue::get(type);
    for (unsigned i = 0; i < type->getNumElements(); i++) {
        Value *index = b.CreateExtractElement(places.lanes, i);
        if (places.is_unsigned)
            index = b.CreateZExt(index, b.getInt64Ty());
        auto *loaded = b.CreateAlignedLoad(type->getElementType(),
                                           b.CreateGEP(places.element, base, index), align);
        loaded->copyMetadata(gather, {llvm::LLVMContext::MD_alias_scope,
                                      llvm::LLVMContext::MD_noalias, llvm::LLVMContext::MD_tbaa});
        result = b.CreateInsertElement(result, loaded, i);
    }
    return result;
}

/// The gathers of all lanes that LLVM would split.
std::vector<llvm::IntrinsicInst *> gathers_of(llvm::Function &function,
                                              const llvm::TargetTransformInfo &processor) {
    std::vector<llvm::IntrinsicInst *> found;
    for (llvm::Instruction &i : llvm::instructions(function)) {
        auto *gather = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
        if (!gather || gather->getIntrinsicID() != llvm::Intrinsic::masked_gather)
            continue;
        auto *type = llvm::cast<llvm::VectorType>(gather->getType());
        const auto *align = llvm::cast<llvm::ConstantInt>(gather->getArgOperand(1));
        const auto *mask = llvm::dyn_cast<llvm::Constant>(gather->getArgOperand(2));
        const bool is_one_instruction =
            processor.isLegalMaskedGather(type, align->getAlignValue()) &&
            !processor.forceScalarizeMaskedGather(type, align->getAlignValue());
        if (mask && mask->isAllOnesValue() && !is_one_instruction)
            found.push_back(gather);
    }
    return found;
}

}  // namespace

llvm::PreservedAnalyses ScalarGathers::run(llvm::Function &function,
                                           llvm::FunctionAnalysisManager &analyses) {
    const auto gathers = gathers_of(function, analyses.getResult<llvm::TargetIRAnalysis>(function));
    for (llvm::IntrinsicInst *gather : gathers) {
        llvm::IRBuilder<> b(gather);
        Places places{};
        if (!read_places(b, gather->getArgOperand(0), places))
            continue;
        const auto *align = llvm::cast<llvm::ConstantInt>(gather->getArgOperand(1));
        gather->replaceAllUsesWith(by_lanes(b, *gather, places, align->getAlignValue()));
        gather->eraseFromParent();
    }
    if (gathers.empty())
        return llvm::PreservedAnalyses::all();
    llvm::PreservedAnalyses kept;
    kept.preserveSet<llvm::CFGAnalyses>();
    return kept;
}

}  // namespace Pipe::codegen
