#include "codegen/scalar_gathers.h"

#include <vector>

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

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

/// Adds up the common parts of the lanes' indices.
class UniformParts {
  public:
    UniformParts(llvm::IRBuilder<> &b, Places &places) : b_(b), places_(places) {}

    void take() {
        while (take_term() || take_cast()) {
        }
    }

  private:
    llvm::IRBuilder<> &b_;
    Places &places_;

    /// lanes + same, or lanes - same, which must not overflow where they are narrow.
    bool take_term() {
        auto *sum = llvm::dyn_cast<llvm::BinaryOperator>(places_.lanes);
        if (!sum || (sum->getOpcode() != llvm::Instruction::Add &&
                     sum->getOpcode() != llvm::Instruction::Sub))
            return false;
        const bool is_wide = sum->getType()->getScalarSizeInBits() == 64;
        if (!is_wide && (places_.is_unsigned ? !sum->hasNoUnsignedWrap() : !sum->hasNoSignedWrap()))
            return false;
        const bool adds = sum->getOpcode() == llvm::Instruction::Add;
        Value *rest = sum->getOperand(0), *same = llvm::getSplatValue(sum->getOperand(1));
        if (!same && adds) {
            rest = sum->getOperand(1);
            same = llvm::getSplatValue(sum->getOperand(0));
        }
        if (!same)
            return false;
        same = widened(same);
        Value *before = places_.uniform ? places_.uniform : b_.getInt64(0);
        places_.uniform = adds ? b_.CreateAdd(before, same) : b_.CreateSub(before, same);
        places_.lanes = rest;
        return true;
    }

    bool take_cast() {
        auto *cast = llvm::dyn_cast<llvm::CastInst>(places_.lanes);
        const bool extends_sign = cast && llvm::isa<llvm::SExtInst>(cast);
        if (!cast || !(extends_sign ? !places_.is_unsigned : llvm::isa<llvm::ZExtInst>(cast)))
            return false;
        places_.is_unsigned |= !extends_sign;
        places_.lanes = cast->getOperand(0);
        return true;
    }

    Value *widened(Value *v) {
        return places_.is_unsigned ? b_.CreateZExt(v, b_.getInt64Ty())
                                   : b_.CreateSExt(v, b_.getInt64Ty());
    }
};

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
    UniformParts(b, places).take();
    return true;
}

/// The lanes of a vector: where it was loaded, by loads of their own.
std::vector<Value *> scalars_of(llvm::IRBuilder<> &b, Value *vector) {
    auto *type = llvm::cast<llvm::FixedVectorType>(vector->getType());
    auto *load = llvm::dyn_cast<llvm::LoadInst>(vector);
    const auto bits = type->getScalarSizeInBits();
    std::vector<Value *> lanes;
    for (unsigned i = 0; i < type->getNumElements(); i++) {
        if (!load || !load->isSimple() || bits < 8) {
            lanes.push_back(b.CreateExtractElement(vector, i));
            continue;
        }
        llvm::IRBuilder<> there(load);
        Value *p = there.CreateConstGEP1_64(type->getElementType(), load->getPointerOperand(), i);
        auto *lane = there.CreateAlignedLoad(type->getElementType(), p,
                                             llvm::commonAlignment(load->getAlign(), i * bits / 8));
        lane->copyMetadata(*load);
        lanes.push_back(lane);
    }
    return lanes;
}

Value *by_lanes(llvm::IRBuilder<> &b, const llvm::IntrinsicInst &gather, const Places &places,
                llvm::Align align) {
    auto *type = llvm::cast<llvm::FixedVectorType>(gather.getType());
    Value *base =
        places.uniform ? b.CreateGEP(places.element, places.base, places.uniform) : places.base;
    Value *result = llvm::PoisonValue::get(type);
    unsigned i = 0;
    for (Value *index : scalars_of(b, places.lanes)) {
        if (places.is_unsigned)
            index = b.CreateZExt(index, b.getInt64Ty());
        auto *loaded = b.CreateAlignedLoad(type->getElementType(),
                                           b.CreateGEP(places.element, base, index), align);
        loaded->copyMetadata(gather, {llvm::LLVMContext::MD_alias_scope,
                                      llvm::LLVMContext::MD_noalias, llvm::LLVMContext::MD_tbaa});
        result = b.CreateInsertElement(result, loaded, i++);
    }
    return result;
}

/// Processors of AMD that have AVX-512 take several micro-operations per lane to gather (Fog, Instruction tables, Zen 4:
/// VGATHERDPS); LLVM 19 knows of 5 in all.
bool gathers_slowly(llvm::StringRef processor) {
    return processor.starts_with("znver");
}

/// The gathers of all lanes that take less as loads of single lanes.
std::vector<llvm::IntrinsicInst *>
gathers_of(llvm::Function &function, const llvm::TargetTransformInfo &processor, bool slow) {
    std::vector<llvm::IntrinsicInst *> found;
    for (llvm::Instruction &i : llvm::instructions(function)) {
        auto *gather = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
        if (!gather || gather->getIntrinsicID() != llvm::Intrinsic::masked_gather)
            continue;
        auto *type = llvm::cast<llvm::VectorType>(gather->getType());
        const auto *align = llvm::cast<llvm::ConstantInt>(gather->getArgOperand(1));
        const auto *mask = llvm::dyn_cast<llvm::Constant>(gather->getArgOperand(2));
        const bool is_one_instruction =
            !slow && processor.isLegalMaskedGather(type, align->getAlignValue()) &&
            !processor.forceScalarizeMaskedGather(type, align->getAlignValue());
        if (mask && mask->isAllOnesValue() && !is_one_instruction)
            found.push_back(gather);
    }
    return found;
}

}  // namespace

llvm::PreservedAnalyses ScalarGathers::run(llvm::Function &function,
                                           llvm::FunctionAnalysisManager &analyses) {
    const auto gathers = gathers_of(function, analyses.getResult<llvm::TargetIRAnalysis>(function),
                                    gathers_slowly(processor_));
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
