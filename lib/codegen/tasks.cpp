// Fork: both statements become functions, as the bodies of parallel loops do (parallel.cpp); the
// semaphores lie on the stack of the one that forks.

#include "codegen/abi.h"
#include "codegen/stmt_emitter.h"

namespace Pipe::codegen {

using llvm::Value;

void StmtEmitter::fork(const ir::StmtNode &s) {
    llvm::Type *i32 = b_.getInt32Ty(), *pointer = b_.getPtrTy();
    auto open = unit_.runtime("pipe_semaphore_open", b_.getVoidTy(), {pointer, b_.getInt64Ty()});
    auto close = unit_.runtime("pipe_semaphore_close", b_.getVoidTy(), {pointer});
    Value *slots = s.exprs[0].defined() ? exprs_.wide(s.exprs[0]) : b_.getInt64(0);
    exprs_.forget();
    std::vector<Value *> semaphores;
    for (const char *which : {".ready", ".free"}) {
        Value *semaphore = frame_.entry_alloca(b_.getInt8Ty(), semaphore_bytes, 64);
        Value *count = semaphores.empty() ? b_.getInt64(0) : slots;
        b_.CreateCall(open, {semaphore, count});
        frame_.buffers.push(s.name + which, {semaphore, true});
        semaphores.push_back(semaphore);
    }
    auto task = [&](const char *which, const ir::Stmt &body) {
        return outline(s.name + which, body, "", [&](StmtEmitter &inner) { inner.emit(body); });
    };
    Task producer = task(".producer", s.stmts[0]), consumer = task(".consumer", s.stmts[1]);
    for (const char *which : {".ready", ".free"})
        frame_.buffers.pop(s.name + which);
    auto run = unit_.runtime("pipe_fork", i32, {pointer, pointer, pointer, pointer, pointer});
    Value *code = b_.CreateCall(
        run, {frame_.context(), producer.body, producer.closure, consumer.body, consumer.closure});
    for (Value *semaphore : semaphores)
        b_.CreateCall(close, {semaphore});
    frame_.require(b_.CreateIsNull(code), [&] { return code; });
}

void StmtEmitter::acquire(const ir::StmtNode &s) {
    auto run =
        unit_.runtime("pipe_semaphore_acquire", b_.getInt32Ty(), {b_.getPtrTy(), b_.getPtrTy()});
    Value *code = b_.CreateCall(run, {frame_.context(), frame_.buffers.find(s.name)->host});
    frame_.require(b_.CreateIsNull(code), [&] { return code; });
}

void StmtEmitter::release(const ir::StmtNode &s) {
    frame_.fence(unit_);
    auto run = unit_.runtime("pipe_semaphore_release", b_.getVoidTy(), {b_.getPtrTy()});
    b_.CreateCall(run, {frame_.buffers.find(s.name)->host});
}

}  // namespace Pipe::codegen
