// What kernels tell the emulator (jit/runtime/gpu_abi.h).

#include <llvm/IR/IntrinsicInst.h>

#include "codegen/device/device_code.h"
#include "codegen/expr_emitter.h"

namespace Pipe::codegen {

using llvm::Value;

namespace {

/// Where an instruction, or a masked intrinsic of LLVM, loads or stores: one address or one per lane, the type, and the
/// lanes that do (null: all).
struct MemoryAccess {
    Value *address, *mask;
    llvm::Type *type;
};

MemoryAccess memory_access(llvm::Instruction *access) {
    if (auto *rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(access))
        return {rmw->getPointerOperand(), nullptr, rmw->getValOperand()->getType()};
    if (auto *swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(access))
        return {swap->getPointerOperand(), nullptr, swap->getNewValOperand()->getType()};
    if (auto *store = llvm::dyn_cast<llvm::StoreInst>(access))
        return {store->getPointerOperand(), nullptr, store->getValueOperand()->getType()};
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(access))
        return {load->getPointerOperand(), nullptr, load->getType()};
    auto *call = llvm::cast<llvm::IntrinsicInst>(access);
    if (call->getType()->isVoidTy())  // (value, address, alignment, mask)
        return {call->getArgOperand(1), call->getArgOperand(3), call->getArgOperand(0)->getType()};
    return {call->getArgOperand(0), call->getArgOperand(2),
            call->getType()};  // (address, alignment, mask, other)
}

}  // namespace

void ExprEmitter::tell_emulator(llvm::Instruction *access, const std::string &buffer,
                                Value *active) {
    const BufferBinding &bound = *frame_.buffers.find(buffer);
    const MemoryAccess memory = memory_access(access);
    Builder b(access);
    auto bytes_of = [&](llvm::Type *type) {
        return static_cast<int32_t>(
            unit_.module.getDataLayout().getTypeStoreSize(type).getFixedValue());
    };
    auto i32 = [&](int64_t value) { return b.getInt32(static_cast<uint32_t>(value)); };
    const int32_t element_bytes = bytes_of(memory.type->getScalarType());
    const runtime::GPUSite::Kind kind = access->isAtomic()           ? runtime::GPUSite::Atomic
                                        : access->mayWriteToMemory() ? runtime::GPUSite::Store
                                                                     : runtime::GPUSite::Load;
    const int32_t site = unit_.device->add_site(
        {buffer, kind, static_cast<runtime::GPUSite::Memory>(bound.memory), element_bytes});
    const bool is_array = bound.array_bytes != nullptr;
    Value *array = is_array ? bound.address : llvm::ConstantPointerNull::get(b.getPtrTy());
    Value *array_bytes = is_array ? bound.array_bytes : b.getInt64(0);
    auto function = unit_.runtime(runtime::pipe_emulator_access);
    auto tell = [&](Value *address, Value *bytes) {
        b.CreateCall(function, {frame_.kernel->emulated_thread, i32(site), address, bytes, array,
                                array_bytes});
    };
    if (!memory.mask) {
        Value *bytes = i32(bytes_of(memory.type));
        return tell(memory.address, active ? b.CreateSelect(active, bytes, i32(0)) : bytes);
    }
    // Lane by lane; those that are masked off access no bytes.
    auto *vector = llvm::cast<llvm::FixedVectorType>(memory.type);
    for (unsigned lane = 0; lane < vector->getNumElements(); lane++) {
        Value *address = memory.address->getType()->isVectorTy()
                             ? b.CreateExtractElement(memory.address, lane)
                             : b.CreateConstGEP1_64(vector->getElementType(), memory.address, lane);
        tell(address,
             b.CreateSelect(b.CreateExtractElement(memory.mask, lane), i32(element_bytes), i32(0)));
    }
}

}  // namespace Pipe::codegen
