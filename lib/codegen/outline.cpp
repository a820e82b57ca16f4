// Parts of the program that become separate functions: the bodies of parallel loops, and the parts
// selected by parts_of. Values from outside are passed in a closure on the caller's stack.
//
//   for parallel y in [0, n) { S }    ->    closure = {what S uses};
//                                           if (code = pipe_parallel_for(ctx, S', 0, n, &closure))
//                                               return code;
//   int32 S'(ctx, begin, end, closure) { for y in [begin, end) { S }; return 0; }
//
//   produce f { S }                   ->    closure = {what S uses};
//                                           if (code = S'(ctx, 0, 0, &closure)) return code;

#include "codegen/stmt_emitter.h"

namespace Pipe::codegen {

using llvm::Value;

Closure StmtEmitter::capture(const ir::Stmt &part, const std::string &own_name) const {
    Names used = names_in(part);
    Closure closure;
    std::vector<llvm::Type *> fields;
    for (const std::string &name : used.variables) {
        // Names bound inside the part are not visible here (or are shadowed there).
        const Binding *bound = frame_.variables.find(name);
        if (!bound || name == own_name)
            continue;
        closure.captures.push_back({name, Capture::Variable, bound->value});
        fields.push_back(bound->value->getType());
    }
    for (const std::string &name : used.buffers) {
        const BufferBinding *bound = frame_.buffers.find(name);
        if (!bound)
            continue;
        closure.captures.push_back({name, Capture::Address, bound->address});
        fields.push_back(bound->address->getType());
        if (bound->device) {
            closure.captures.push_back({name, Capture::Device, bound->device});
            fields.push_back(bound->device->getType());
        }
    }
    closure.type = llvm::StructType::get(unit_.context, fields);
    return closure;
}

Value *StmtEmitter::store_closure(const Closure &closure) {
    Value *place = frame_.entry_alloca(closure.type, 1, 64);
    for (unsigned i = 0; i < closure.captures.size(); i++) {
        b_.CreateStore(closure.captures[i].value, b_.CreateStructGEP(closure.type, place, i));
    }
    return place;
}

/// Binds the names in `closure` in a function that receives it as its last argument.
void StmtEmitter::open_closure(const Closure &closure, Frame &inner) const {
    Builder &b = inner.b;
    for (unsigned i = 0; i < closure.captures.size(); i++) {
        const Capture &c = closure.captures[i];
        Value *place = b.CreateStructGEP(closure.type, inner.function->getArg(3), i);
        llvm::LoadInst *value = b.CreateLoad(closure.type->getElementType(i), place, c.name);
        value->setMetadata(llvm::LLVMContext::MD_invariant_load,
                           llvm::MDNode::get(unit_.context, {}));
        if (c.kind == Capture::Address) {
            const BufferBinding &outer = *frame_.buffers.find(c.name);
            BufferBinding bound{value, outer.aligned};
            bound.bytes = outer.bytes;
            inner.buffers.push(c.name, bound);
            continue;
        }
        if (c.kind == Capture::Device) {  // behind the address
            BufferBinding bound = *inner.buffers.find(c.name);
            bound.device = value;
            inner.buffers.push(c.name, bound);
            continue;
        }
        const Binding &outer = *frame_.variables.find(c.name);
        Binding bound{value, std::nullopt, std::nullopt, outer.range, 0};
        if (outer.offset)
            bound.offset = Offset::of(b.CreateSExt(value, b.getInt64Ty()), 0);
        inner.variables.push(c.name, bound);
    }
}

/// Creates the function S' described above; `emit_body` emits its body.
llvm::Function *StmtEmitter::outline(const std::string &name, const Closure &closure,
                                     const std::function<void(Frame &)> &emit_body) {
    llvm::Type *i32 = b_.getInt32Ty(), *pointer = b_.getPtrTy();
    llvm::Function *function =
        unit_.make_function(frame_.function->getName().str() + "." + name,
                            {pointer, i32, i32, pointer}, /*exported=*/false);
    Frame inner(function, unit_.target);
    open_closure(closure, inner);
    emit_body(inner);
    StmtEmitter(unit_, inner).end_function();
    return function;
}

void StmtEmitter::parallel_loop(const ir::StmtNode &s) {
    Closure closure = capture(s.body(), s.name);
    llvm::Function *body = outline(s.name, closure, [&](Frame &inner) {
        Builder &b = inner.b;
        Value *begin = b.CreateSExt(inner.function->getArg(1), b.getInt64Ty());
        Value *end = b.CreateSExt(inner.function->getArg(2), b.getInt64Ty());
        StmtEmitter emitter(unit_, inner);
        emitter.begin_profile(frame_.profile_func);
        emitter.counted_loop(s, begin, end, loop_range(s));
    });
    Value *data = store_closure(closure);
    llvm::Type *i32 = b_.getInt32Ty();
    auto run = unit_.runtime(runtime::pipe_parallel_for);
    Value *min = b_.CreateIntCast(exprs_.emit(s.min()), i32, true);
    Value *extent = b_.CreateIntCast(exprs_.emit(s.extent()), i32, true);
    exprs_.forget();
    Value *code = b_.CreateCall(run, {frame_.context(), body, min, extent, data});
    frame_.require(b_.CreateIsNull(code), [&] { return code; });
}

void StmtEmitter::part(const ir::StmtNode &s) {
    Closure closure = capture(s.body(), "");
    llvm::Function *function = outline(s.name, closure, [&](Frame &inner) {
        StmtEmitter emitter(unit_, inner);
        emitter.begin_profile(frame_.profile_func);
        emitter.emit(s.body());
    });
    Value *none = b_.getInt32(0);
    Value *code = b_.CreateCall(function, {frame_.context(), none, none, store_closure(closure)});
    frame_.require(b_.CreateIsNull(code), [&] { return code; });
}

}  // namespace Pipe::codegen
