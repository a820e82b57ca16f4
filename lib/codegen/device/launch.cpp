// Launch: the kernel becomes a function of its own, and host code calls pipe_launch with the values that it uses.

#include <algorithm>
#include <cstddef>

#include "codegen/device/device_code.h"
#include "codegen/device/kernel.h"
#include "codegen/stmt_emitter.h"

namespace Pipe::codegen {

using llvm::Value;

/// The values of a kernel's parameters, in one block of `*bytes`; the result is the array of their addresses.
Value *StmtEmitter::store_parameters(const Closure &closure, int64_t *bytes) {
    const llvm::DataLayout &layout = unit_.module.getDataLayout();
    std::vector<Value *> values;
    std::vector<uint64_t> offsets;
    uint64_t end = 0;
    llvm::Align align(8);
    for (const Capture &c : closure.captures) {
        Value *value = c.value;
        if (llvm::Type *type = parameter_type(value->getType()); type != value->getType())
            value = b_.CreateZExt(value, type);
        const llvm::Align own = std::max(llvm::Align(8), layout.getABITypeAlign(value->getType()));
        align = std::max(align, own);
        values.push_back(value);
        offsets.push_back(llvm::alignTo(end, own));
        end = offsets.back() + layout.getTypeStoreSize(value->getType()).getFixedValue();
    }
    *bytes = static_cast<int64_t>(end);
    const auto count = static_cast<int64_t>(values.size());
    Value *params = frame_.entry_alloca(b_.getPtrTy(), std::max<int64_t>(1, count), 8);
    Value *block = frame_.entry_alloca(b_.getInt8Ty(), std::max<int64_t>(1, *bytes),
                                       static_cast<int>(align.value()));
    b_.CreateMemSet(block, b_.getInt8(0), end, align);  // what lies between the values is compared
    for (size_t i = 0; i < values.size(); i++) {
        Value *place = b_.CreateConstGEP1_64(b_.getInt8Ty(), block, offsets[i]);
        b_.CreateAlignedStore(values[i], place, llvm::commonAlignment(align, offsets[i]));
        b_.CreateStore(place, b_.CreateConstGEP1_64(b_.getPtrTy(), params, i));
    }
    return params;
}

void StmtEmitter::launch(const ir::StmtNode &s) {
    Closure closure = capture(s.body(), "");
    llvm::Type *i64 = b_.getInt64Ty();
    std::erase_if(closure.captures, [](const Capture &c) { return c.kind == Capture::Device; });
    for (Capture &c : closure.captures)
        if (c.kind == Capture::Address)
            c.value = device_address(c.name);
    const int32_t number = emit_device_kernel(unit_, s, closure, frame_);

    int64_t param_bytes = 0;
    Value *params = store_parameters(closure, &param_bytes);
    Value *sizes = frame_.entry_alloca(b_.getInt8Ty(), sizeof(runtime::GPULaunch), 8);
    auto set = [&](size_t at, Value *value) {
        b_.CreateStore(value, b_.CreateConstGEP1_64(b_.getInt8Ty(), sizes, at));
    };
    set(offsetof(runtime::GPULaunch, kernel), b_.getInt32(static_cast<uint32_t>(number)));
    for (size_t d = 0; d < 3; d++) {
        set(offsetof(runtime::GPULaunch, blocks) + 4 * d, exprs_.emit(ir::blocks_of_launch(s, d)));
        set(offsetof(runtime::GPULaunch, threads) + 4 * d,
            exprs_.emit(ir::threads_of_launch(s, d)));
    }
    set(offsetof(runtime::GPULaunch, shared_bytes),
        b_.CreateIntCast(exprs_.emit(ir::shared_bytes_of_launch(s)), i64, true));
    set(offsetof(runtime::GPULaunch, params),
        b_.getInt32(static_cast<uint32_t>(closure.captures.size())));
    set(offsetof(runtime::GPULaunch, param_bytes), b_.getInt32(static_cast<uint32_t>(param_bytes)));
    exprs_.forget();
    auto run = unit_.runtime(runtime::pipe_launch);
    Value *code = b_.CreateCall(run, {frame_.context(), unit_.device->description, sizes, params});
    frame_.require(b_.CreateIsNull(code), [&] { return code; });
}

/// While the host is in a loop of its own, the device has to have begun what was launched before.
void StmtEmitter::submit_before(const ir::StmtNode &loop) {
    if (!unit_.device || !unit_.device->host_loops.count(&loop))
        return;
    auto submit = unit_.runtime(runtime::pipe_device_submit);
    Value *code = b_.CreateCall(submit, {frame_.context()});
    frame_.require(b_.CreateIsNull(code), [&] { return code; });
}

/// Where the buffer begins on the device, after a Use.
Value *StmtEmitter::device_address(const std::string &buffer) {
    Value *record = frame_.buffers.find(buffer)->device;
    Value *place =
        b_.CreateConstGEP1_64(b_.getInt8Ty(), record, offsetof(runtime::DeviceBuffer, device));
    return b_.CreateIntToPtr(b_.CreateLoad(b_.getInt64Ty(), place), b_.getPtrTy());
}

void StmtEmitter::use(const ir::StmtNode &s) {
    const BufferBinding *bound = frame_.buffers.find(s.name);
    if (!bound || !bound->device)
        throw InternalError(s.name + " is used by a kernel, but has no memory on the device");
    int32_t access = s.access == ir::Access::Read ? runtime::DeviceRead
                     : s.access == ir::Access::Write
                         ? runtime::DeviceRead | runtime::DeviceWrite
                         : runtime::DeviceWrite | runtime::DeviceOverwrite;
    if (s.on_device && unit_.device->has_narrow_indices())
        access |= runtime::DeviceNarrow;
    auto function = unit_.runtime(s.on_device ? runtime::pipe_device_use : runtime::pipe_host_use);
    Value *code = b_.CreateCall(
        function, {frame_.context(), bound->device, b_.getInt32(static_cast<uint32_t>(access))});
    frame_.require(b_.CreateIsNull(code), [&] { return code; });
}

}  // namespace Pipe::codegen
