// Fork: both statements become functions, like the bodies of parallel loops (outline.cpp); the
// semaphores are on the stack of the forking function.

#include "codegen/stmt_emitter.h"
#include "jit/runtime/abi.h"

namespace Pipe::codegen {

using llvm::Value;

void StmtEmitter::fork(const ir::StmtNode &s) {
    auto open = unit_.runtime(runtime::pipe_semaphore_open);
    auto close = unit_.runtime(runtime::pipe_semaphore_close);
    Value *slots = s.slots().defined() ? exprs_.wide(s.slots()) : b_.getInt64(0);
    exprs_.forget();
    std::vector<Value *> semaphores;
    for (const char *which : {".ready", ".free"}) {
        Value *semaphore = frame_.entry_alloca(b_.getInt8Ty(), runtime::semaphore_bytes, 64);
        Value *count = semaphores.empty() ? b_.getInt64(0) : slots;
        b_.CreateCall(open, {semaphore, count});
        frame_.buffers.push(s.name + which, {semaphore, true});
        semaphores.push_back(semaphore);
    }
    std::vector<Value *> arguments{frame_.context()};
    for (size_t i = 0; i < 2; i++) {
        const ir::Stmt &body = s.stmts[i];
        Closure closure = capture(body, "");
        arguments.push_back(
            outline(s.name + (i == 0 ? ".producer" : ".consumer"), closure, [&](Frame &inner) {
                StmtEmitter emitter(unit_, inner);
                emitter.begin_profile(frame_.profile_func);
                emitter.emit(body);
            }));
        arguments.push_back(store_closure(closure));
    }
    for (const char *which : {".ready", ".free"})
        frame_.buffers.pop(s.name + which);
    auto run = unit_.runtime(runtime::pipe_fork);
    Value *code = b_.CreateCall(run, arguments);
    for (Value *semaphore : semaphores)
        b_.CreateCall(close, {semaphore});
    frame_.require(b_.CreateIsNull(code), [&] { return code; });
}

/// The lock is a global variable of the module, so that concurrent calls of the pipeline also
/// exclude each other.
void StmtEmitter::exclusive(const ir::StmtNode &s) {
    const std::string name = "pipe.lock." + s.name;
    llvm::GlobalVariable *lock = unit_.module.getNamedGlobal(name);
    if (!lock)
        lock = new llvm::GlobalVariable(unit_.module, b_.getInt32Ty(), false,
                                        llvm::GlobalValue::InternalLinkage, b_.getInt32(0), name);
    exprs_.forget();
    b_.CreateCall(unit_.runtime(runtime::pipe_lock_enter), {lock});
    emit(s.body());
    b_.CreateCall(unit_.runtime(runtime::pipe_lock_leave), {lock});
}

void StmtEmitter::acquire(const ir::StmtNode &s) {
    auto run = unit_.runtime(runtime::pipe_semaphore_acquire);
    Value *code = b_.CreateCall(run, {frame_.context(), frame_.buffers.find(s.name)->address});
    frame_.require(b_.CreateIsNull(code), [&] { return code; });
}

void StmtEmitter::release(const ir::StmtNode &s) {
    frame_.fence(unit_);
    auto run = unit_.runtime(runtime::pipe_semaphore_release);
    b_.CreateCall(run, {frame_.buffers.find(s.name)->address});
}

}  // namespace Pipe::codegen
