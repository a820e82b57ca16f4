// Allocate: on the stack, or in the thread's scratch memory (pipe_scratch_push).
//
//   MemoryType::Stack with a size that is known only at run time: memory that the call keeps across
//   iterations, until a larger size is needed.
//
//       if (bytes > kept.bytes) {
//           pipe_scratch_pop(ctx, kept.block);
//           if (!(kept.block = pipe_scratch_push(ctx, bytes))) return out_of_memory;
//           kept.bytes = bytes;
//       }

#include <algorithm>

#include "codegen/device/device_code.h"
#include "codegen/stmt_emitter.h"
#include "ir/fold.h"
#include "ir/visit.h"
#include "jit/runtime/abi.h"
#include "support/error_text.h"

namespace Pipe::codegen {

using llvm::Value;

namespace {

/// Constant-size storage up to this size is placed on the stack, where LLVM may promote it to
/// registers.
constexpr int64_t max_stack_array = 32 << 10;
/// The limit for MemoryType::Stack, if the user requests it.
constexpr int64_t max_asked_stack_array = 256 << 10;
/// All such arrays of one function together.
constexpr int64_t max_frame = 512 << 10;

bool is_constant_index(const Expr &index) {
    return ir::is_constant(index->op == ir::Op::Ramp ? index->base() : index);
}

/// Whether all accesses have constant indices, so that LLVM can keep the elements in registers: then, its scope has
/// memory of its own.
bool may_be_registers(const ir::StmtNode &s) {
    bool constant = true;
    ir::walk(
        s.stmts[0],
        [&](const ir::Stmt &c) {
            if (c->op == ir::StmtOp::Store && c->name == s.name)
                constant &= is_constant_index(c->exprs[1]);
            return constant;
        },
        [&](const Expr &e) {
            if (e->op == ir::Op::Load && e->name == s.name)
                constant &= is_constant_index(e->element());
            return constant;
        });
    return constant;
}

int64_t elements_of(const ir::StmtNode &s, int64_t bytes) {
    return std::max<int64_t>(1, bytes / s.types[0].element_of().bytes());
}

}  // namespace

/// The product of the sizes and the element size, or the maximum int64 if it overflows: then the
/// allocation fails with its own message.
Value *StmtEmitter::allocation_bytes(Type element, const std::vector<Expr> &sizes) {
    Value *bytes = b_.getInt64(static_cast<uint64_t>(element.bytes()));
    Value *overflow = b_.getFalse();
    for (const Expr &size : sizes) {
        Value *n =
            b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, exprs_.wide(size), b_.getInt64(0));
        Value *both = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smul_with_overflow, bytes, n);
        bytes = b_.CreateExtractValue(both, 0);
        overflow = b_.CreateOr(overflow, b_.CreateExtractValue(both, 1));
    }
    return b_.CreateSelect(overflow, b_.getInt64(INT64_MAX), bytes);
}

/// An array of this name and size whose scope has ended; the number of arrays if there is none.
size_t StmtEmitter::unused_array(const ir::StmtNode &s, int64_t bytes) const {
    llvm::Type *element = memory_type(unit_.context, s.types[0].element_of());
    auto same = [&](const StackArray &a) {
        return !a.in_use && a.name == s.name && a.element == element &&
               a.count == elements_of(s, bytes);
    };
    return static_cast<size_t>(std::find_if(frame_.arrays.begin(), frame_.arrays.end(), same) -
                               frame_.arrays.begin());
}

void StmtEmitter::allocate(const ir::StmtNode &s) {
    if (unit_.device && unit_.device->buffers.count(s.name))
        return allocate_for_kernels(s);
    std::optional<int64_t> known = constant_bytes(s);
    bool asked = s.memory == MemoryType::Register || (s.memory == MemoryType::Stack && known);
    if (asked && !known)
        throw CompileError(support::marked(support::Field::Func, s.name) +
                           ".store_in: its size is not known at compile time, so it cannot "
                           "be kept in registers. Bound it (bound_storage, or splits by "
                           "constants), or use Stack.");
    const bool alone = known && frame_.stack_bytes + *known <= max_frame / 2 && may_be_registers(s);
    const size_t array = known && !alone ? unused_array(s, *known) : frame_.arrays.size();
    const int64_t more = array < frame_.arrays.size() ? 0 : known.value_or(0);
    if (asked && (*known > max_asked_stack_array || frame_.stack_bytes + more > max_frame))
        throw CompileError(support::marked(support::Field::Func, s.name) +
                           ".store_in: " + support::marked(support::Field::Needed, *known) +
                           " bytes are too many for the stack (at most " +
                           std::to_string(max_asked_stack_array) + ", and " +
                           std::to_string(max_frame) + " for all Funcs together). Use Heap.");
    if (known && s.memory != MemoryType::Heap &&
        *known <= (asked ? max_asked_stack_array : max_stack_array) &&
        frame_.stack_bytes + more <= max_frame) {
        frame_.stack_bytes += more;
        profile_stack(s.name, more);
        if (array == frame_.arrays.size()) {
            llvm::Type *element = memory_type(unit_.context, s.types[0].element_of());
            const int64_t count = elements_of(s, *known);
            frame_.arrays.push_back(
                {s.name, element, count, frame_.entry_alloca(element, count, 64), false});
        }
        frame_.arrays[array].in_use = true;
        with_memory(s, {s.name, frame_.arrays[array].address, nullptr});
        frame_.arrays[array].in_use = alone;
        return;
    }
    Value *bytes = allocation_bytes(s.types[0], s.exprs);
    exprs_.forget();
    if (s.memory == MemoryType::Stack)
        with_memory(s, {s.name, kept_block(s.name, bytes), nullptr});
    else
        with_memory(s, {s.name, push_block(s.name, bytes), bytes});
}

void StmtEmitter::allocate_for_kernels(const ir::StmtNode &s) {
    Value *bytes = allocation_bytes(s.types[0], s.exprs);
    exprs_.forget();
    Value *none = llvm::ConstantPointerNull::get(b_.getPtrTy());
    Value *block = s.on_device ? none : push_block(s.name, bytes);
    with_memory(s, {s.name, block, s.on_device ? nullptr : bytes,
                    open_device_buffer(s.name, block, bytes, s.types[0].bytes())});
}

Value *StmtEmitter::open_device_buffer(const std::string &name, Value *host, Value *bytes,
                                       int element_bytes) {
    llvm::Type *i8 = b_.getInt8Ty();
    Value *device = frame_.entry_alloca(i8, sizeof(runtime::DeviceBuffer), 8);
    b_.CreateMemSet(device, b_.getInt8(0), sizeof(runtime::DeviceBuffer), llvm::Align(8));
    auto set = [&](size_t at, Value *value) {
        b_.CreateStore(value, b_.CreateConstGEP1_64(i8, device, at));
    };
    set(offsetof(runtime::DeviceBuffer, name), b_.CreateGlobalString(name));
    set(offsetof(runtime::DeviceBuffer, host), host);
    set(offsetof(runtime::DeviceBuffer, end), bytes);
    set(offsetof(runtime::DeviceBuffer, element_bytes),
        b_.getInt32(static_cast<uint32_t>(element_bytes)));
    auto open = unit_.runtime(runtime::pipe_device_open);
    Value *code = b_.CreateCall(open, {frame_.context(), device});
    frame_.require(b_.CreateIsNull(code), [&] { return code; });
    return device;
}

void StmtEmitter::close_device_buffer(Value *device) {
    auto close = unit_.runtime(runtime::pipe_device_close);
    b_.CreateCall(close, {frame_.context(), device});
}

Value *StmtEmitter::push_block(const std::string &name, Value *bytes) {
    auto push = unit_.runtime(runtime::pipe_scratch_push);
    llvm::CallInst *block = b_.CreateCall(push, {frame_.context(), bytes}, name);
    block->addRetAttr(llvm::Attribute::NoAlias);
    block->addRetAttr(llvm::Attribute::getWithAlignment(unit_.context, llvm::Align(64)));
    frame_.require(b_.CreateIsNotNull(block), [&] {
        auto fail = unit_.runtime(runtime::pipe_out_of_memory);
        return b_.CreateCall(fail, {frame_.context(), b_.CreateGlobalString(name), bytes});
    });
    profile_memory(runtime::pipe_profile_allocated, name, bytes);
    return block;
}

void StmtEmitter::pop_block(const std::string &name, Value *block, Value *bytes) {
    profile_memory(runtime::pipe_profile_freed, name, bytes);
    auto pop = unit_.runtime(runtime::pipe_scratch_pop);
    b_.CreateCall(pop, {frame_.context(), block});
}

/// The loops of one Func, where they are taken apart, use one block.
const KeptBlock &StmtEmitter::kept_place(const std::string &name) {
    auto known = std::find_if(frame_.kept.begin(), frame_.kept.end(),
                              [&](const KeptBlock &kept) { return kept.name == name; });
    if (known != frame_.kept.end())
        return *known;
    frame_.kept.push_back({name, frame_.entry_alloca(b_.getPtrTy(), 1, 8),
                           frame_.entry_alloca(b_.getInt64Ty(), 1, 8)});
    const KeptBlock &kept = frame_.kept.back();
    llvm::IRBuilderBase::InsertPointGuard guard(b_);
    b_.SetInsertPoint(frame_.function->getEntryBlock().getTerminator());
    b_.CreateStore(b_.getInt64(-1), kept.bytes);  // so that the first block is made
    b_.CreateStore(llvm::ConstantPointerNull::get(b_.getPtrTy()), kept.block);
    return kept;
}

/// A block that the function keeps, with room for so many bytes.
Value *StmtEmitter::kept_block(const std::string &name, Value *bytes) {
    llvm::Type *pointer = b_.getPtrTy(), *i64 = b_.getInt64Ty();
    const KeptBlock kept = kept_place(name);
    llvm::BasicBlock *grow = frame_.new_block("grow"), *enough = frame_.new_block("enough");
    b_.CreateCondBr(b_.CreateICmpSGT(bytes, b_.CreateLoad(i64, kept.bytes)), grow, enough);
    b_.SetInsertPoint(grow);
    free_kept(kept);
    b_.CreateStore(push_block(name, bytes), kept.block);
    b_.CreateStore(bytes, kept.bytes);
    b_.CreateBr(enough);
    b_.SetInsertPoint(enough);
    return b_.CreateLoad(pointer, kept.block, name);
}

void StmtEmitter::free_kept(const KeptBlock &kept) {
    llvm::BasicBlock *free = frame_.new_block("free"), *freed = frame_.new_block("freed");
    Value *block = b_.CreateLoad(b_.getPtrTy(), kept.block);
    b_.CreateCondBr(b_.CreateIsNotNull(block), free, freed);
    b_.SetInsertPoint(free);
    pop_block(kept.name, block, b_.CreateLoad(b_.getInt64Ty(), kept.bytes));
    b_.CreateBr(freed);
    b_.SetInsertPoint(freed);
}

void StmtEmitter::end_function() {
    for (const KeptBlock &kept : frame_.kept)
        free_kept(kept);
    frame_.fence(unit_);
    frame_.finish();
}

void StmtEmitter::with_memory(const ir::StmtNode &s, const Memory &memory) {
    memory_.push_back(memory);
    BufferBinding bound{memory.block, true, memory.device};
    bound.bytes = constant_bytes(s).value_or(0);
    frame_.buffers.push(s.name, bound);
    emit(s.body());
    frame_.buffers.pop(s.name);
    if (!memory_.empty() && memory_.back().name == s.name && memory_.back().block == memory.block)
        free(s.name);
}

void StmtEmitter::free(const std::string &name) {
    auto found = std::find_if(memory_.rbegin(), memory_.rend(),
                              [&](const Memory &m) { return m.name == name; });
    if (found->device)
        close_device_buffer(found->device);
    if (found->scratch_bytes)
        pop_block(name, found->block, found->scratch_bytes);
    memory_.erase(std::next(found).base());
}

}  // namespace Pipe::codegen
