// Parallel loops: the body becomes a function of its own, which runs a range of iterations. What it
// uses from outside travels in a closure on the caller's stack.
//
//   for parallel y in [0, n) { S }    ->    closure = {what S uses};
//                                           if (code = pipe_parallel_for(ctx, S', 0, n, &closure))
//                                               return code;
//   int32 S'(ctx, begin, end, closure) { for y in [begin, end) { S }; return 0; }

#include "codegen/stmt_emitter.h"

namespace Pipe::codegen {

using llvm::Value;

namespace {

std::vector<Capture> captures_of(const ir::StmtNode &loop, const Frame &frame) {
    Names used = names_in(loop.stmts[0]);
    std::vector<Capture> captures;
    for (const std::string &name : used.variables) {
        // The loop's own variable, and names bound inside, are not known here (or are hidden
        // there).
        if (name != loop.name && frame.variables.find(name)) captures.push_back({name, false});
    }
    for (const std::string &name : used.buffers) {
        if (frame.buffers.find(name)) captures.push_back({name, true});
    }
    return captures;
}

Value *captured_value(const Capture &c, const Frame &frame) {
    return c.is_buffer ? frame.buffers.find(c.name)->host : frame.variables.find(c.name)->value;
}

}  // namespace

/// The function S' of the picture above.
llvm::Function *StmtEmitter::outline(const ir::StmtNode &s, llvm::StructType *closure_type,
                                     const std::vector<Capture> &captures) {
    llvm::Type *i32 = b_.getInt32Ty(), *pointer = b_.getPtrTy();
    llvm::Function *body = unit_.make_function(frame_.function->getName().str() + "." + s.name,
                                               {pointer, i32, i32, pointer}, /*exported=*/false);
    Frame inner(body);
    Builder &b = inner.b;
    for (unsigned i = 0; i < captures.size(); i++) {
        const Capture &c = captures[i];
        llvm::Type *type = closure_type->getElementType(i);
        Value *place = b.CreateStructGEP(closure_type, body->getArg(3), i);
        llvm::LoadInst *value = b.CreateLoad(type, place, c.name);
        value->setMetadata(llvm::LLVMContext::MD_invariant_load,
                           llvm::MDNode::get(unit_.context, {}));
        if (c.is_buffer) {
            inner.buffers.push(c.name, {value, frame_.buffers.find(c.name)->aligned});
            continue;
        }
        const Binding &outer = *frame_.variables.find(c.name);
        Binding bound{value, std::nullopt, std::nullopt, outer.range, 0};
        if (outer.offset) bound.offset = Offset::of(b.CreateSExt(value, b.getInt64Ty()), 0);
        inner.variables.push(c.name, bound);
    }
    Value *begin = b.CreateSExt(body->getArg(1), b.getInt64Ty());
    Value *end = b.CreateSExt(body->getArg(2), b.getInt64Ty());
    StmtEmitter emitter(unit_, inner);
    emitter.begin_profile(frame_.profile_func);
    emitter.counted_loop(s, begin, end, loop_range(s));
    b.CreateRet(b.getInt32(0));
    return body;
}

void StmtEmitter::parallel_loop(const ir::StmtNode &s) {
    std::vector<Capture> captures = captures_of(s, frame_);
    std::vector<llvm::Type *> fields;
    for (const Capture &c : captures) fields.push_back(captured_value(c, frame_)->getType());
    auto *closure_type = llvm::StructType::get(unit_.context, fields);
    llvm::Function *body = outline(s, closure_type, captures);

    Value *closure = frame_.entry_alloca(closure_type, 1, 64);
    for (unsigned i = 0; i < captures.size(); i++) {
        b_.CreateStore(captured_value(captures[i], frame_),
                       b_.CreateStructGEP(closure_type, closure, i));
    }
    llvm::Type *i32 = b_.getInt32Ty(), *pointer = b_.getPtrTy();
    auto run = unit_.runtime("pipe_parallel_for", i32, {pointer, pointer, i32, i32, pointer});
    Value *min = b_.CreateIntCast(exprs_.emit(s.exprs[0]), i32, true);
    Value *extent = b_.CreateIntCast(exprs_.emit(s.exprs[1]), i32, true);
    exprs_.forget();
    Value *code = b_.CreateCall(run, {frame_.context(), body, min, extent, closure});
    frame_.require(b_.CreateIsNull(code), [&] { return code; });
}

}  // namespace Pipe::codegen
