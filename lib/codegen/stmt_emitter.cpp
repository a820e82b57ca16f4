#include "codegen/stmt_emitter.h"

#include <algorithm>
#include <unordered_set>

#include <llvm/IR/Intrinsics.h>

#include "codegen/abi.h"
#include "codegen/arith.h"
#include "ir/visit.h"

namespace Pipe::codegen {

using ir::StmtOp;
using llvm::Value;

namespace {

/// Constant-size storage up to here goes on the stack, where LLVM may turn it into registers.
constexpr int64_t max_stack_array = 32 << 10;
/// A user who says MemoryType::Stack gets it up to here.
constexpr int64_t max_asked_stack_array = 256 << 10;
/// All such arrays of one function together.
constexpr int64_t max_frame = 512 << 10;

}  // namespace

Names names_in(const ir::Stmt &s) {
    Names names;
    std::unordered_set<const ir::ExprNode *> seen;  // expressions share nodes
    ir::walk(
        s,
        [&](const ir::Stmt &stmt) {
            bool memory = stmt->op == StmtOp::Store || stmt->op == StmtOp::Prefetch;
            bool semaphore = stmt->op == StmtOp::Acquire || stmt->op == StmtOp::Release;
            if (memory || semaphore)
                names.buffers.insert(stmt->name);
            return true;
        },
        [&](const Expr &e) {
            if (!seen.insert(e.get()).second)
                return false;
            if (e->op == ir::Op::Variable)
                names.variables.insert(e->name);
            if (e->op == ir::Op::Load)
                names.buffers.insert(e->name);
            return true;
        });
    return names;
}

void StmtEmitter::emit(const ir::Stmt &s) {
    if (!s.defined())
        return;
    switch (s->op) {
    case StmtOp::Let:
        return let(*s.get());
    case StmtOp::Assert:
        return assertion(*s.get());
    case StmtOp::For:
        if (s->kind == LoopKind::Serial)
            return serial_loop(*s.get());
        if (s->kind == LoopKind::Parallel)
            return parallel_loop(*s.get());
        throw InternalError("code generation met the loop " + s->name +
                            ", vectorized or unrolled, which lowering replaces");
    case StmtOp::Store:
        exprs_.emit_store(*s.get());
        return exprs_.forget();
    case StmtOp::Allocate:
        return allocate(*s.get());
    case StmtOp::Free:
        return free(s->name);
    case StmtOp::Produce:
        return produce(*s.get());
    case StmtOp::Consume:
        return emit(s->stmts[0]);
    case StmtOp::If:
        return if_then_else(*s.get());
    case StmtOp::Block:
        for (const ir::Stmt &child : s->stmts)
            emit(child);
        return;
    case StmtOp::Evaluate:
        exprs_.emit(s->exprs[0]);
        return exprs_.forget();
    case StmtOp::Prefetch:
        exprs_.emit_prefetch(*s.get());
        return exprs_.forget();
    case StmtOp::Fork:
        return fork(*s.get());
    case StmtOp::Acquire:
        return acquire(*s.get());
    case StmtOp::Release:
        return release(*s.get());
    case StmtOp::Exclusive:
        return exclusive(*s.get());
    case StmtOp::Memoize:
        return memoize(*s.get());
    case StmtOp::Provide:
    case StmtOp::Realize:
        break;
    }
    throw InternalError("code generation met the multi-dimensional " + s->name +
                        ", which lowering flattens");
}

void StmtEmitter::let(const ir::StmtNode &s) {
    Binding bound = exprs_.bind(s.exprs[0]);
    exprs_.forget();
    frame_.variables.push(s.name, bound);
    emit(s.stmts[0]);
    frame_.variables.pop(s.name);
}

void StmtEmitter::assertion(const ir::StmtNode &s) {
    Value *condition = exprs_.emit(s.exprs[0]);
    frame_.require(condition, [&] {
        return exprs_.emit_fail(s.code == 0 ? 1 : s.code, {s.exprs.begin() + 1, s.exprs.end()});
    });
    exprs_.forget();
}

Range StmtEmitter::loop_range(const ir::StmtNode &s) const {
    Range min = exprs_.range(s.exprs[0]), extent = exprs_.range(s.exprs[1]);
    Range all = range_of_type(s.exprs[0].type());
    __int128 last = static_cast<__int128>(min.hi) + extent.hi - 1;
    return {min.lo, last > all.hi ? all.hi : static_cast<int64_t>(last)};
}

void StmtEmitter::bind_loop_variable(const ir::StmtNode &s, Value *wide, Range range) {
    Binding bound;
    bound.depth = frame_.loop_depth;
    bound.offset = Offset::of(wide, bound.depth);
    bound.value = b_.CreateTrunc(wide, register_type(unit_.context, s.exprs[0].type()));
    bound.range = range;
    frame_.variables.push(s.name, bound);
}

void StmtEmitter::serial_loop(const ir::StmtNode &s) {
    Value *begin = exprs_.wide(s.exprs[0]);
    Value *extent = exprs_.wide(s.exprs[1]);
    Value *end = b_.CreateNSWAdd(begin, extent);
    Range range = loop_range(s);
    exprs_.forget();
    auto *known = llvm::dyn_cast<llvm::ConstantInt>(extent);
    if (known && known->getSExtValue() <= 0)
        return;
    if (known && known->isOne()) {
        frame_.variables.push(s.name, exprs_.bind(s.exprs[0]));
        exprs_.forget();
        emit(s.stmts[0]);
        frame_.variables.pop(s.name);
        return;
    }
    if (known || exprs_.range(s.exprs[1]).lo > 0)
        return counted_loop(s, begin, end, range);
    llvm::BasicBlock *loop = frame_.new_block("some"), *after = frame_.new_block("none");
    b_.CreateCondBr(b_.CreateICmpSLT(begin, end), loop, after);
    b_.SetInsertPoint(loop);
    counted_loop(s, begin, end, range);
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
}

/// At least one iteration, with the test at the end: the shape that LLVM's loop passes want. The
/// counter has 64 bits, so that addresses need no extension.
void StmtEmitter::counted_loop(const ir::StmtNode &s, Value *begin, Value *end, Range range) {
    llvm::BasicBlock *before = b_.GetInsertBlock();
    llvm::BasicBlock *loop = frame_.new_block(s.name.c_str()), *after = frame_.new_block("done");
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    llvm::PHINode *counter = b_.CreatePHI(b_.getInt64Ty(), 2, s.name);
    counter->addIncoming(begin, before);
    frame_.loop_depth++;
    bind_loop_variable(s, counter, range);
    emit(s.stmts[0]);
    frame_.variables.pop(s.name);
    frame_.loop_depth--;
    Value *next = b_.CreateNSWAdd(counter, b_.getInt64(1));
    counter->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpSLT(next, end), loop, after);
    b_.SetInsertPoint(after);
}

/// The product of the sizes and the element, or the greatest int64 where that overflows: no such
/// block can be had, so the allocation fails in its own words.
Value *StmtEmitter::allocation_bytes(Type element, const std::vector<Expr> &sizes) {
    Value *bytes = b_.getInt64(static_cast<uint64_t>(element.bytes()));
    Value *overflow = b_.getFalse();
    for (const Expr &size : sizes) {
        Value *n =
            b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, exprs_.wide(size), b_.getInt64(0));
        Value *both = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smul_with_overflow, bytes, n);
        bytes = b_.CreateExtractValue(both, 0);
        overflow = b_.CreateOr(overflow, b_.CreateExtractValue(both, 1));
    }
    return b_.CreateSelect(overflow, b_.getInt64(INT64_MAX), bytes);
}

void StmtEmitter::allocate(const ir::StmtNode &s) {
    std::optional<int64_t> known = constant_bytes(s);
    bool asked = s.memory == MemoryType::Register || (s.memory == MemoryType::Stack && known);
    if (asked && !known)
        throw CompileError(
            s.name +
            ".store_in: how much memory it needs is not known when it is compiled, so it cannot "
            "lie in registers. Bound it (bound_storage, or splits by constants), or use Stack.");
    if (asked && (*known > max_asked_stack_array || frame_.stack_bytes + *known > max_frame))
        throw CompileError(s.name + ".store_in: " + std::to_string(*known) +
                           " bytes are too many for the stack (at most " +
                           std::to_string(max_asked_stack_array) + ", and " +
                           std::to_string(max_frame) + " for all together). Use Heap.");
    if (known && s.memory != MemoryType::Heap &&
        *known <= (asked ? max_asked_stack_array : max_stack_array) &&
        frame_.stack_bytes + *known <= max_frame) {
        frame_.stack_bytes += *known;
        profile_stack(s.name, *known);
        Type element = s.types[0].element_of();
        Value *array = frame_.entry_alloca(memory_type(unit_.context, element),
                                           std::max<int64_t>(1, *known / element.bytes()), 64);
        return with_memory(s, {s.name, array, nullptr});
    }
    Value *bytes = allocation_bytes(s.types[0], s.exprs);
    exprs_.forget();
    auto push = unit_.runtime("pipe_scratch_push", b_.getPtrTy(), {b_.getPtrTy(), b_.getInt64Ty()});
    llvm::CallInst *block = b_.CreateCall(push, {frame_.context(), bytes}, s.name);
    block->addRetAttr(llvm::Attribute::NoAlias);
    block->addRetAttr(llvm::Attribute::getWithAlignment(unit_.context, llvm::Align(64)));
    frame_.require(b_.CreateIsNotNull(block), [&] {
        auto fail = unit_.runtime("pipe_out_of_memory", b_.getInt32Ty(),
                                  {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty()});
        return b_.CreateCall(fail, {frame_.context(), b_.CreateGlobalString(s.name), bytes});
    });
    profile_memory("pipe_profile_allocated", s.name, bytes);
    with_memory(s, {s.name, block, bytes});
}

void StmtEmitter::with_memory(const ir::StmtNode &s, const Memory &memory) {
    memory_.push_back(memory);
    frame_.buffers.push(s.name, {memory.block, true});
    emit(s.stmts[0]);
    frame_.buffers.pop(s.name);
    if (!memory_.empty() && memory_.back().block == memory.block)
        free(s.name);
}

void StmtEmitter::free(const std::string &name) {
    auto found = std::find_if(memory_.rbegin(), memory_.rend(),
                              [&](const Memory &m) { return m.name == name; });
    if (found->scratch_bytes) {
        profile_memory("pipe_profile_freed", name, found->scratch_bytes);
        auto pop =
            unit_.runtime("pipe_scratch_pop", b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy()});
        b_.CreateCall(pop, {frame_.context(), found->block});
    }
    memory_.erase(std::next(found).base());
}

void StmtEmitter::if_then_else(const ir::StmtNode &s) {
    Value *condition = exprs_.emit(s.exprs[0]);
    exprs_.forget();
    bool has_else = s.stmts.size() > 1 && s.stmts[1].defined();
    llvm::BasicBlock *then = frame_.new_block("then"), *join = frame_.new_block("join");
    llvm::BasicBlock *otherwise = has_else ? frame_.new_block("else") : join;
    b_.CreateCondBr(condition, then, otherwise);
    b_.SetInsertPoint(then);
    emit(s.stmts[0]);
    b_.CreateBr(join);
    if (has_else) {
        b_.SetInsertPoint(otherwise);
        emit(s.stmts[1]);
        b_.CreateBr(join);
    }
    b_.SetInsertPoint(join);
}

}  // namespace Pipe::codegen
