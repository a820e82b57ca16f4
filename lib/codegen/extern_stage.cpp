// Extern stages: calls of C functions with RawBuffers. The calls of ir/intrinsics.h,
// extern_function.

#include <cstddef>

#include "codegen/expr_emitter.h"
#include "codegen/math.h"
#include "ir/extern_functions.h"
#include "ir/intrinsics.h"
#include "ir/program.h"
#include <pipe/raw_buffer.h>

namespace Pipe::codegen {

using llvm::Value;

namespace {

std::string list(const std::vector<Type> &types) {
    std::string text;
    for (Type t : types)
        text += (text.empty() ? "" : ", ") + (t.is_handle() ? "a pointer" : Pipe::to_string(t));
    return "(" + text + ")";
}

/// CompileError if the function does not exist, or is known to have other parameters. `who`:
/// "Extern stage f (f.cpp:3): the C function 'g'"
void check_function(const std::string &name, const std::string &who,
                    const std::vector<Type> &given) {
    if (!ir::extern_address(name))
        throw CompileError(
            who +
            " was not found in this process. Declare it extern \"C\" and export it (from an "
            "executable: link with -rdynamic; CMake: ENABLE_EXPORTS), load its library first, "
            "or define it with Pipeline::set_jit_externs.");
    auto known = ir::find_extern(name);
    if (!known)
        return;
    if (known->parameters != given)
        throw CompileError(who + " takes " + list(known->parameters) +
                           ", but define_extern gives it " + list(given) +
                           ": a pointer for each value of a Func, each image, and finally each "
                           "value that it computes. "
                           "Cast numbers to the types of its parameters.");
    if (known->result != Int(32))
        throw CompileError(who + " returns " + Pipe::to_string(known->result) +
                           ", but an extern stage must return an int: 0 for success.");
}

}  // namespace

/// pipe_call_pipeline(context, the ExternPipeline of this name, addresses of the arguments)
Value *ExprEmitter::call_pipeline(const std::string &name, const std::vector<Type> &types,
                                  const std::vector<Value *> &args) {
    constexpr int64_t bytes = 8;
    auto memory = [&](size_t count) {
        return frame_.entry_alloca(b_.getInt8Ty(), bytes * static_cast<int64_t>(count), bytes);
    };
    auto at = [&](Value *base, size_t i) {
        return b_.CreateConstGEP1_64(b_.getInt8Ty(), base, bytes * i);
    };
    Value *values = memory(args.size()), *addresses = memory(args.size());
    for (size_t i = 0; i < args.size(); i++) {
        bool widened = types[i].is_bool();
        b_.CreateStore(widened ? b_.CreateZExt(args[i], b_.getInt8Ty()) : args[i], at(values, i));
        b_.CreateStore(at(values, i), at(addresses, i));
    }
    Value *pipeline = unit_.module.getOrInsertGlobal(name, b_.getInt8Ty());
    auto call = unit_.runtime(runtime::pipe_call_pipeline);
    return b_.CreateCall(call, {frame_.context(), pipeline, addresses});
}

/// extern_stage("function", "who", args...): 0, or the kernel ends.
Value *ExprEmitter::extern_stage(const ir::ExprNode &e) {
    const std::string &function = e.args[0]->name;
    std::vector<Value *> args;
    std::vector<Type> types;
    auto known = ir::find_extern(function);
    // Halide passes the user context to a pipeline as its first argument. It receives that of the
    // call anyway.
    bool has_context = known && known->pipeline && e.args.size() > 2 &&
                       ir::is_intrinsic(*e.args[2].get(), ir::intrinsic::user_context);
    for (size_t i = has_context ? 3 : 2; i < e.args.size(); i++) {
        args.push_back(emit(e.args[i]));
        types.push_back(e.args[i].type());
    }
    check_function(function, e.args[1]->name, types);
    Value *code = known && known->pipeline
                      ? call_pipeline(function, types, args)
                      : emit_c_call(b_, unit_.module, Int(32), function, types, args, false);
    frame_.require(b_.CreateICmpEQ(code, b_.getInt32(0)), [&] {
        return with_scoped_memo([&] {
            const std::string name = "extern_stage.code";
            frame_.variables.push(name, {code, {}, {}, range_of_type(Int(32)), frame_.loop_depth});
            Value *answer = emit_fail(static_cast<int>(ir::Failure::ExternStage),
                                      {e.args[1], ir::make_string(" failed: it returned "),
                                       ir::make_variable(Int(32), name), ir::make_string(".")});
            frame_.variables.pop(name);
            return answer;
        });
    });
    return code;
}

/// raw_buffer(any value of the element type, host, min, extent, stride, ...): filled whenever it is
/// evaluated.
Value *ExprEmitter::raw_buffer(const ir::ExprNode &e) {
    size_t dimensions = (e.args.size() - 2) / 3;
    auto memory = [&](size_t bytes) {
        return frame_.entry_alloca(b_.getInt8Ty(), static_cast<int64_t>(std::max<size_t>(1, bytes)),
                                   alignof(RawBuffer));
    };
    auto put = [&](Value *base, size_t offset, Value *value) {
        b_.CreateStore(value, b_.CreateConstGEP1_64(b_.getInt8Ty(), base, offset));
    };
    Value *dims = memory(dimensions * sizeof(RawDimension)), *raw = memory(sizeof(RawBuffer));
    for (size_t d = 0; d < dimensions; d++) {
        size_t at = d * sizeof(RawDimension), arg = 2 + 3 * d;
        put(dims, at + offsetof(RawDimension, min), wide(e.args[arg]));
        put(dims, at + offsetof(RawDimension, extent), wide(e.args[arg + 1]));
        put(dims, at + offsetof(RawDimension, stride), wide(e.args[arg + 2]));
        put(dims, at + offsetof(RawDimension, flags), b_.getInt32(0));
    }
    static_assert(sizeof(TypeData) == 4 && offsetof(TypeData, bits) == 1 &&
                  offsetof(TypeData, lanes) == 2);
    Type element = e.args[0].type();
    Value *null = llvm::ConstantPointerNull::get(b_.getPtrTy());
    put(raw, offsetof(RawBuffer, device), b_.getInt64(0));
    put(raw, offsetof(RawBuffer, device_interface), null);
    put(raw, offsetof(RawBuffer, host), emit(e.args[1]));
    put(raw, offsetof(RawBuffer, flags), b_.getInt64(0));
    put(raw, offsetof(RawBuffer, flags) + BufferFlags::memory_offset, null);
    put(raw, offsetof(RawBuffer, type),
        b_.getInt32(static_cast<uint32_t>(element.code()) |
                    static_cast<uint32_t>(element.bits()) << 8 |
                    static_cast<uint32_t>(element.lanes()) << 16));
    put(raw, offsetof(RawBuffer, dimensions), b_.getInt32(static_cast<uint32_t>(dimensions)));
    put(raw, offsetof(RawBuffer, dim), dims);
    return raw;
}

/// raw_min(buffer, dimension), raw_extent(buffer, dimension)
Value *ExprEmitter::raw_field(const ir::ExprNode &e) {
    bool min = e.name == ir::extern_function::raw_min;
    auto d = static_cast<size_t>(e.args[1]->int_value);
    size_t field = d * sizeof(RawDimension) +
                   (min ? offsetof(RawDimension, min) : offsetof(RawDimension, extent));
    auto at = [&](Value *base, size_t bytes) {
        return b_.CreateConstGEP1_64(b_.getInt8Ty(), base, bytes);
    };
    Value *dims = b_.CreateLoad(b_.getPtrTy(), at(emit(e.args[0]), offsetof(RawBuffer, dim)));
    return b_.CreateTrunc(b_.CreateLoad(b_.getInt64Ty(), at(dims, field)), b_.getInt32Ty());
}

}  // namespace Pipe::codegen
