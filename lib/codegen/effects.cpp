// Exprs with side effects: print and require.

#include <algorithm>

#include "codegen/expr_emitter.h"
#include "codegen/float16.h"
#include "ir/intrinsics.h"
#include "jit/runtime/abi.h"

namespace Pipe::codegen {

using llvm::Value;

/// Text and values in the format of pipe_fail and pipe_print.
ExprEmitter::Message ExprEmitter::message(const std::vector<Expr> &parts, const char *between) {
    std::string text;
    std::vector<Value *> values;
    for (size_t i = 0; i < parts.size(); i++) {
        const Expr &part = parts[i];
        Type type = part->type;
        if (i > 0)
            text += between;
        if (part->op == ir::Op::StringImm) {
            text += part->name;
            continue;
        }
        Value *value = emit(part);
        text += static_cast<char>(type.is_float()    ? runtime::FloatField
                                  : type.is_handle() ? runtime::TextField
                                  : type.is_int()    ? runtime::SignedField
                                                     : runtime::UnsignedField);
        if (type.is_float())
            value = b_.CreateBitCast(emit_any_cast(b_, unit_.target, type, Float(64), value),
                                     b_.getInt64Ty());
        else if (type.is_handle())
            value = b_.CreatePtrToInt(value, b_.getInt64Ty());
        else
            value = b_.CreateIntCast(value, b_.getInt64Ty(), type.is_int());
        values.push_back(value);
    }
    auto count = static_cast<int64_t>(values.size());
    Value *array = frame_.entry_alloca(b_.getInt64Ty(), std::max<int64_t>(1, count), 8);
    for (size_t i = 0; i < values.size(); i++)
        b_.CreateStore(values[i], b_.CreateConstGEP1_64(b_.getInt64Ty(), array, i));
    return {b_.CreateGlobalString(text), array};
}

Value *ExprEmitter::emit_fail(int code, const std::vector<Expr> &parts, const char *between) {
    Message m = message(parts, between);
    auto fail = unit_.runtime(runtime::pipe_fail);
    Value *number = b_.getInt32(static_cast<uint32_t>(code));
    return b_.CreateCall(fail, {frame_.context(), number, m.text, m.values});
}

/// print(condition, value, ...): the value. (One lane: vectorization leaves effects scalar.)
Value *ExprEmitter::print(const ir::ExprNode &e) {
    std::vector<Expr> parts(e.args.begin() + 1, e.args.end());
    Value *result = emit(parts[0]), *condition = emit(e.args[0]);
    llvm::BasicBlock *then = frame_.new_block("print"), *join = frame_.new_block("printed");
    b_.CreateCondBr(condition, then, join);
    b_.SetInsertPoint(then);
    with_scoped_memo([&] {
        Message m = message(parts, " ");
        auto print = unit_.runtime(runtime::pipe_print);
        return b_.CreateCall(print, {frame_.context(), m.text, m.values});
    });
    b_.CreateBr(join);
    b_.SetInsertPoint(join);
    return result;
}

/// require(condition, value, ...): the value, or the kernel ends.
Value *ExprEmitter::require(const ir::ExprNode &e) {
    constexpr int failed_requirement = 1;
    std::vector<Expr> parts(e.args.begin() + 1, e.args.end());
    Value *condition = emit(e.args[0]);
    frame_.require(condition, [&] {
        return with_scoped_memo([&] { return emit_fail(failed_requirement, parts, " "); });
    });
    return emit(parts[0]);
}

}  // namespace Pipe::codegen
