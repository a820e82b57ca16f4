// Memoize: storage in the cache of the run time (jit/runtime/abi.h).
//
//   memoize f[int32] of (n) by (p) if used: u { P } then { C }    ->
//
//       key = {p}; buffers = {bytes of f}; missing = 0;
//       if (!(entry = pipe_memo_open(ctx, "f", key, 1, buffers, 1, &missing))) return out_of_memory;
//       f = buffers[0];
//       if (missing && u) { P; pipe_memo_store(ctx, entry, 0, 0); }
//       C;
//       pipe_memo_close(ctx, entry);
//
// If code in between returns early, the run time closes the entry and discards it if it is
// incomplete.

#include <algorithm>

#include "codegen/device/device_code.h"
#include "codegen/stmt_emitter.h"

namespace Pipe::codegen {

using llvm::Value;

/// The values, each in the first bytes of a 64-bit word.
Value *StmtEmitter::memoize_key(const ir::StmtNode &s) {
    Value *key = frame_.entry_alloca(b_.getInt64Ty(), std::max(1, s.num_values), 8);
    const std::vector<Expr> values = ir::key_of_memoize(s);
    for (size_t i = 0; i < values.size(); i++) {
        const Expr &e = values[i];
        Value *value = exprs_.emit(e);
        if (e.type().is_bool())
            value = b_.CreateZExt(value, b_.getInt8Ty());
        Value *place = b_.CreateConstGEP1_64(b_.getInt64Ty(), key, i);
        b_.CreateStore(b_.getInt64(0), place);
        b_.CreateStore(value, place);
    }
    return key;
}

/// The device buffer of memory of the cache, of which kernels read copies; null if they do not.
Value *StmtEmitter::memoized_on_device(const std::string &buffer, Type element, Value *memory,
                                       Value *bytes, Value *is_missing) {
    if (!unit_.device || !unit_.device->buffers.count(buffer))
        return nullptr;
    Value *device = open_device_buffer(buffer, memory, bytes, element.bytes());
    b_.CreateStore(
        b_.CreateZExt(b_.CreateNot(is_missing), b_.getInt32Ty()),
        b_.CreateConstGEP1_64(b_.getInt8Ty(), device, offsetof(runtime::DeviceBuffer, host_newer)));
    return device;
}

void StmtEmitter::memoize(const ir::StmtNode &s) {
    llvm::Type *i32 = b_.getInt32Ty(), *i64 = b_.getInt64Ty(), *pointer = b_.getPtrTy();
    auto open = unit_.runtime(runtime::pipe_memo_open);
    auto store = unit_.runtime(runtime::pipe_memo_store);
    auto close = unit_.runtime(runtime::pipe_memo_close);
    const std::vector<Expr> sizes = ir::shape_of_memoize(s);
    const size_t count = s.types.size();
    Value *key = memoize_key(s);
    Value *buffers = frame_.entry_alloca(i64, static_cast<int64_t>(count), 8);
    Value *missing = frame_.entry_alloca(i32, 1, 4);
    auto place = [&](size_t i) { return b_.CreateConstGEP1_64(i64, buffers, i); };
    std::vector<Value *> bytes;
    for (size_t i = 0; i < count; i++) {
        bytes.push_back(allocation_bytes(s.types[i], sizes));
        b_.CreateStore(bytes[i], place(i));
    }
    Value *eviction_key =
        s.eviction_key().defined() ? exprs_.emit(s.eviction_key()) : b_.getInt64(0);
    Value *used = s.used().defined() ? exprs_.emit(s.used()) : b_.getTrue();
    exprs_.forget();
    Value *entry = b_.CreateCall(open, {frame_.context(), b_.CreateGlobalString(s.name), key,
                                        b_.getInt64(static_cast<uint64_t>(s.num_values)), buffers,
                                        b_.getInt64(count), missing});
    frame_.require(b_.CreateIsNotNull(entry),
                   [&] { return b_.getInt32(static_cast<uint32_t>(runtime::out_of_memory)); });
    Value *is_missing = b_.CreateIsNotNull(b_.CreateLoad(i32, missing));
    std::vector<Value *> devices;
    for (size_t i = 0; i < count; i++) {
        Value *memory = b_.CreateLoad(pointer, place(i), s.name);
        const std::string buffer = ir::buffer_of_memoize(s, i);
        devices.push_back(memoized_on_device(buffer, s.types[i], memory, bytes[i], is_missing));
        frame_.buffers.push(buffer, {memory, true, devices.back()});
        profile_memory(runtime::pipe_profile_allocated, s.name, bytes[i]);
    }

    llvm::BasicBlock *produce = frame_.new_block("missing"), *consume = frame_.new_block("found");
    b_.CreateCondBr(b_.CreateAnd(is_missing, used), produce, consume);
    b_.SetInsertPoint(produce);
    emit(s.producer());
    frame_.fence(unit_);
    b_.CreateCall(store,
                  {frame_.context(), entry, b_.getInt32(s.eviction_key().defined()), eviction_key});
    b_.CreateBr(consume);
    b_.SetInsertPoint(consume);
    emit(s.consumer());

    for (size_t i = 0; i < count; i++) {
        frame_.buffers.pop(ir::buffer_of_memoize(s, i));
        if (devices[i])
            close_device_buffer(devices[i]);
        profile_memory(runtime::pipe_profile_freed, s.name, bytes[i]);
    }
    b_.CreateCall(close, {frame_.context(), entry});
}

}  // namespace Pipe::codegen
