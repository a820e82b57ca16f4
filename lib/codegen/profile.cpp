// Profiling: one store per `produce` marks the Func on which the thread works.
//
//   produce f { S }    ->    *slot = &table[f]; S; *slot = &table[g]      g: what encloses it
//
// `slot` is the thread's, `table` that of the run (jit/runtime/abi.h). Nothing is emitted for targets
// without the feature Profile, nor for Funcs with no_profiling().

#include "codegen/stmt_emitter.h"
#include "ir/visit.h"
#include "jit/runtime/abi.h"

namespace Pipe::codegen {

using llvm::Value;

Profiled::Profiled(const ir::Program &program) {
    funcs.push_back({"overhead", 0});
    ir::walk(
        program.body,
        [&](const ir::Stmt &s) {
            bool told_apart =
                s->op == ir::StmtOp::Produce && program.unprofiled.count(s->name) == 0;
            if (told_apart && number_.emplace(s->name, funcs.size()).second)
                funcs.push_back({s->name, 0});
            return true;
        },
        [](const Expr &) { return false; });
}

size_t Profiled::number(const std::string &name, size_t enclosing) const {
    auto found = number_.find(name);
    if (found == number_.end())
        found = number_.find(name.substr(0, name.rfind('.')));
    return found == number_.end() ? enclosing : found->second;
}

Value *StmtEmitter::profile_entry(size_t func) {
    return b_.CreateConstGEP1_64(b_.getInt8Ty(), frame_.profile_table,
                                 func * runtime::profile_entry_bytes);
}

void StmtEmitter::begin_profile(size_t func) {
    if (!unit_.profiled)
        return;
    auto slot = unit_.runtime(runtime::pipe_profile_slot);
    auto table = unit_.runtime(runtime::pipe_profile_table);
    frame_.profile_slot = b_.CreateCall(slot, {frame_.context()});
    frame_.profile_table = b_.CreateCall(table, {frame_.context()});
    work_on(func);
}

void StmtEmitter::work_on(size_t func) {
    frame_.profile_func = func;
    llvm::StoreInst *store =
        b_.CreateAlignedStore(profile_entry(func), frame_.profile_slot, llvm::Align(8));
    store->setAtomic(llvm::AtomicOrdering::Monotonic);
}

void StmtEmitter::produce(const ir::StmtNode &s) {
    auto body = [&] { unit_.parts.count(&s) ? part(s) : emit(s.body()); };
    if (!unit_.profiled)
        return body();
    size_t outer = frame_.profile_func;
    work_on(unit_.profiled->number(s.name, outer));
    body();
    work_on(outer);
}

void StmtEmitter::profile_memory(decltype(runtime::pipe_profile_freed) *what,
                                 const std::string &name, Value *bytes) {
    if (!unit_.profiled)
        return;
    auto run = unit_.runtime(what);
    b_.CreateCall(run, {profile_entry(unit_.profiled->number(name, frame_.profile_func)), bytes});
}

void StmtEmitter::profile_stack(const std::string &name, int64_t bytes) {
    if (!unit_.profiled)
        return;
    unit_.profiled->funcs[unit_.profiled->number(name, frame_.profile_func)].stack_bytes += bytes;
}

}  // namespace Pipe::codegen
