// Events of a traced pipeline: builds a TraceEvent on the stack and passes it to the run time.

#include <cstddef>

#include "codegen/expr_emitter.h"
#include "ir/intrinsics.h"
#include <pipe/jit.h>

namespace Pipe::codegen {

using llvm::Value;

namespace {

/// The fields of an event, as values.
struct Event {
    Value *code, *func, *tag, *parent, *index;
    Type type;
    Value *value = nullptr;  ///< address
    Value *coordinates = nullptr;
    size_t dimensions = 0;
};

/// Fills a TraceEvent, whose address is `event`, and calls the run time.
Value *emit_event(Unit &unit, Frame &frame, Value *event, const Event &e) {
    Builder &b = frame.b;
    auto put = [&](size_t offset, Value *value) {
        b.CreateStore(value, b.CreateConstGEP1_64(b.getInt8Ty(), event, offset));
    };
    static_assert(sizeof(TypeData) == 4 && offsetof(TypeData, bits) == 1 &&
                  offsetof(TypeData, lanes) == 2);
    auto type = static_cast<uint32_t>(e.type.code()) | static_cast<uint32_t>(e.type.bits()) << 8 |
                static_cast<uint32_t>(e.type.lanes()) << 16;
    Value *null = llvm::ConstantPointerNull::get(b.getPtrTy());
    put(offsetof(TraceEvent, func), e.func);
    put(offsetof(TraceEvent, value), e.value ? e.value : null);
    put(offsetof(TraceEvent, coordinates), e.coordinates ? e.coordinates : null);
    put(offsetof(TraceEvent, trace_tag), e.tag);
    put(offsetof(TraceEvent, type), b.getInt32(type));
    put(offsetof(TraceEvent, event), e.code);
    put(offsetof(TraceEvent, parent_id), e.parent);
    put(offsetof(TraceEvent, value_index), e.index);
    put(offsetof(TraceEvent, dimensions), b.getInt32(static_cast<uint32_t>(e.dimensions)));
    put(offsetof(TraceEvent, lanes), b.getInt32(static_cast<uint32_t>(e.type.lanes())));
    auto run = unit.runtime(runtime::pipe_trace);
    return b.CreateCall(run, {frame.context(), event});
}

}  // namespace

/// The calls of ir/intrinsics.h, extern_function: `trace` and `trace_value`.
Value *ExprEmitter::trace(const ir::ExprNode &e) {
    bool of_value = e.name == ir::extern_function::trace_value;
    std::vector<Value *> args;
    for (const Expr &arg : e.args)
        args.push_back(emit(arg));
    size_t head = 5;  // the arguments before the coordinates
    Event event;
    event.code = args[of_value ? 1 : 0];
    event.func = args[of_value ? 2 : 1];
    event.tag = of_value ? b_.CreateGlobalString("") : args[2];
    event.parent = args[3], event.index = args[4];
    // Handlers written for Halide copy as many values as there are lanes.
    event.type = of_value ? e.type : Type(Type::Handle, 0, 0);
    if (of_value) {
        event.value = frame_.entry_alloca(b_.getInt64Ty(), 1, 8);
        Value *value = args[0];
        if (e.type.is_bool())
            value = b_.CreateZExt(value, b_.getInt8Ty());
        b_.CreateStore(value, event.value);
    }
    event.dimensions = args.size() - head;
    if (event.dimensions > 0) {
        event.coordinates =
            frame_.entry_alloca(b_.getInt32Ty(), static_cast<int64_t>(event.dimensions), 8);
        for (size_t i = head; i < args.size(); i++)
            b_.CreateStore(args[i],
                           b_.CreateConstGEP1_64(b_.getInt32Ty(), event.coordinates, i - head));
    }
    Value *memory = frame_.entry_alloca(b_.getInt8Ty(), sizeof(TraceEvent), alignof(TraceEvent));
    Value *answer = emit_event(unit_, frame_, memory, event);
    return of_value ? args[0] : answer;
}

}  // namespace Pipe::codegen
