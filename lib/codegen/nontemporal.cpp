// Loads and stores that bypass the caches.

#include <algorithm>

#include <llvm/IR/InlineAsm.h>

#include "codegen/expr_emitter.h"
#include "support/target.h"

namespace Pipe::codegen {

using llvm::Value;

namespace {

/// Whether a vector consists of whole registers, as non-temporal accesses require.
bool fills_registers(const llvm::Type *type, const llvm::DataLayout &layout) {
    auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    if (!vector)
        return false;
    uint64_t bytes = layout.getTypeStoreSize(vector->getElementType()).getFixedValue() *
                     vector->getNumElements();
    return bytes >= 16 && llvm::isPowerOf2_64(bytes);
}

/// (For single bytes, and for loads in pieces of one or two bytes, LLVM 19 selects an instruction
/// that does not exist on x86, and crashes.)
bool can_stream_load(const llvm::Type *type, const llvm::DataLayout &layout) {
    return fills_registers(type, layout) && type->getScalarSizeInBits() >= 16;
}

/// A vector of bytes, which fills registers, in them: what follows, in other basic blocks, is no part of its
/// computation. (LLVM 19 selects instructions per basic block. It moves the end of a computation to where the result is
/// used, and then narrows integers, or shuffles, one lane at a time. Wider elements are not narrowed, and sums of theirs
/// may be shared across blocks.)
Value *in_registers(Builder &b, const Target &target, Value *vector) {
    llvm::Type *type = vector->getType();
    if (target.arch != Target::X86 || type->getScalarSizeInBits() != 8)
        return vector;
    const int lanes = lanes_of(vector);
    const int each = std::min(target.natural_vector_size(UInt(8)), lanes);
    if (lanes % each != 0)
        return vector;
    llvm::Type *narrow = with_lanes(b.getInt8Ty(), each),
               *words = with_lanes(b.getInt32Ty(), each / 4);
    const char *same = target.has_feature(Target::AVX512) ? "=v,0" : "=x,0";
    auto *nothing = llvm::InlineAsm::get(llvm::FunctionType::get(words, {words}, false), "", same,
                                         /*hasSideEffects=*/false);
    std::vector<Value *> parts;
    for (int begin = 0; begin < lanes; begin += each) {
        Value *part = b.CreateBitCast(subvector(b, vector, begin, each), words);
        parts.push_back(b.CreateBitCast(b.CreateCall(nothing, part), narrow));
    }
    return concat(b, parts);
}

}  // namespace

/// A let may be used by several stores, each with a test of its alignment, if they bypass the caches: then it is
/// computed as a whole before them.
Value *ExprEmitter::whole_for_stores(Value *value) {
    const auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
    const auto lanes = static_cast<unsigned>(unit_.target.natural_vector_size(UInt(8)));
    if (unit_.nontemporal_stores.empty() || !vector || vector->getScalarSizeInBits() != 8 ||
        vector->getNumElements() % lanes != 0)
        return value;
    return in_registers(b_, unit_.target, value);
}

void ExprEmitter::bypass_caches(llvm::Instruction *access) {
    llvm::Metadata *one = llvm::ConstantAsMetadata::get(b_.getInt32(1));
    access->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(unit_.context, {one}));
}

/// Not where it does not fill registers, or LLVM 19 has no instruction for it.
void ExprEmitter::bypass_caches_if_possible(llvm::Instruction *load) {
    if (can_stream_load(load->getType(), unit_.module.getDataLayout()))
        bypass_caches(load);
}

/// Stores all lanes of a vector, or a scalar. Non-temporal stores require aligned registers: tests
/// the alignment at run time and uses ordinary stores if it is not sufficient.
void ExprEmitter::store_whole(const std::string &buffer, Value *value, Value *p,
                              llvm::Align align) {
    const auto widest = static_cast<uint64_t>(unit_.target.natural_vector_size(UInt(8)));
    uint64_t bytes = unit_.module.getDataLayout().getTypeStoreSize(value->getType());
    const llvm::Align wanted(llvm::bit_floor(std::min(bytes, widest)));
    auto store = [&](llvm::Align known) {
        llvm::StoreInst *access = b_.CreateAlignedStore(value, p, known);
        mark(access, buffer);
        return access;
    };
    if (unit_.nontemporal_stores.count(buffer) == 0 ||
        !fills_registers(value->getType(), unit_.module.getDataLayout())) {
        store(align);
        return;
    }
    if (align >= wanted)
        return bypass_caches(store(wanted));
    llvm::BasicBlock *aligned = frame_.new_block("store.aligned");
    llvm::BasicBlock *other = frame_.new_block("store.unaligned");
    llvm::BasicBlock *join = frame_.new_block("stored");
    value = in_registers(b_, unit_.target, value);
    Value *low = b_.CreateAnd(b_.CreatePtrToInt(p, b_.getInt64Ty()), wanted.value() - 1);
    b_.CreateCondBr(b_.CreateIsNull(low), aligned, other);
    b_.SetInsertPoint(aligned);
    bypass_caches(store(wanted));
    b_.CreateBr(join);
    b_.SetInsertPoint(other);
    store(align);
    b_.CreateBr(join);
    b_.SetInsertPoint(join);
}

}  // namespace Pipe::codegen
