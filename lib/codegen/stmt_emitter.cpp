#include "codegen/stmt_emitter.h"

#include <algorithm>
#include <unordered_set>

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include "codegen/arith.h"
#include "ir/visit.h"
#include "jit/runtime/abi.h"

namespace Pipe::codegen {

using ir::StmtOp;
using llvm::Value;

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
        submit_before(*s.get());
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
        if (frame_.kernel)
            return kernel_array(*s.get());
        return allocate(*s.get());
    case StmtOp::Free:
        return frame_.kernel ? void() : free(s->name);
    case StmtOp::Produce:
        return produce(*s.get());
    case StmtOp::Consume:
        return emit(s->body());
    case StmtOp::If:
        return if_then_else(*s.get());
    case StmtOp::Block:
        for (const ir::Stmt &child : s->stmts)
            emit(child);
        return;
    case StmtOp::Evaluate:
        exprs_.emit(s->value());
        return exprs_.forget();
    case StmtOp::Prefetch:
        if (frame_.kernel)
            return;  // other warps run meanwhile
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
    case StmtOp::Launch:
        return launch(*s.get());
    case StmtOp::Barrier:
        return barrier();
    case StmtOp::Use:
        return use(*s.get());
    case StmtOp::Provide:
    case StmtOp::Realize:
        break;
    }
    throw InternalError("code generation met the multi-dimensional " + s->name +
                        ", which lowering flattens");
}

void StmtEmitter::let(const ir::StmtNode &s) {
    Binding bound = exprs_.bind(s.value());
    if (bound.value)
        bound.value = exprs_.whole_for_stores(bound.value);
    exprs_.forget();
    frame_.variables.push(s.name, bound);
    emit(s.body());
    frame_.variables.pop(s.name);
}

void StmtEmitter::assertion(const ir::StmtNode &s) {
    Value *condition = exprs_.emit(s.condition());
    frame_.require(condition, [&] {
        return exprs_.emit_fail(s.code == 0 ? 1 : s.code, {s.exprs.begin() + 1, s.exprs.end()});
    });
    exprs_.forget();
}

ir::ConstantInterval StmtEmitter::loop_range(const ir::StmtNode &s) const {
    ir::ConstantInterval min = exprs_.range(s.min()), extent = exprs_.range(s.extent());
    ir::ConstantInterval all = range_of_type(s.min().type());
    __int128 last = static_cast<__int128>(min.hi) + extent.hi - 1;
    return {min.lo, last > all.hi ? all.hi : static_cast<int64_t>(last)};
}

void StmtEmitter::bind_loop_variable(const ir::StmtNode &s, Value *counter,
                                     ir::ConstantInterval range) {
    Binding bound;
    bound.depth = frame_.loop_depth;
    bound.offset = Offset::of(frame_.as_index(counter), bound.depth);
    bound.value = b_.CreateTrunc(counter, register_type(unit_.context, s.min().type()));
    bound.range = range;
    frame_.variables.push(s.name, bound);
}

void StmtEmitter::serial_loop(const ir::StmtNode &s) {
    Value *begin = exprs_.counter(s.min());
    Value *extent = exprs_.counter(s.extent());
    Value *end = b_.CreateNSWAdd(begin, extent);
    ir::ConstantInterval range = loop_range(s);
    exprs_.forget();
    auto *known = llvm::dyn_cast<llvm::ConstantInt>(extent);
    if (known && known->getSExtValue() <= 0)
        return;
    if (known && known->isOne()) {
        frame_.variables.push(s.name, exprs_.bind(s.min()));
        exprs_.forget();
        emit(s.body());
        frame_.variables.pop(s.name);
        return;
    }
    if (known || exprs_.range(s.extent()).lo > 0)
        return counted_loop(s, begin, end, range);
    llvm::BasicBlock *loop = frame_.new_block("some"), *after = frame_.new_block("none");
    b_.CreateCondBr(b_.CreateICmpSLT(begin, end), loop, after);
    b_.SetInsertPoint(loop);
    counted_loop(s, begin, end, range);
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
}

namespace {

/// LLVM's passes do not unroll the loop of this branch: it takes no time, and its copies would be most of the code.
void keep_rolled(llvm::LLVMContext &context, llvm::BranchInst &back) {
    llvm::MDNode *disabled =
        llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.unroll.disable")});
    llvm::MDNode *loop = llvm::MDNode::getDistinct(context, {nullptr, disabled});
    loop->replaceOperandWith(0, loop);
    back.setMetadata(llvm::LLVMContext::MD_loop, loop);
}

}  // namespace

/// At least one iteration, with the test at the end: the form that LLVM's loop passes expect. The
/// counter has the width of an index, so that addresses need no extension.
void StmtEmitter::counted_loop(const ir::StmtNode &s, Value *begin, Value *end,
                               ir::ConstantInterval range) {
    llvm::BasicBlock *before = b_.GetInsertBlock();
    llvm::BasicBlock *loop = frame_.new_block(s.name.c_str()), *after = frame_.new_block("done");
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    llvm::PHINode *counter = b_.CreatePHI(begin->getType(), 2, s.name);
    counter->addIncoming(begin, before);
    frame_.loop_depth++;
    bind_loop_variable(s, counter, range);
    emit(s.body());
    frame_.variables.pop(s.name);
    frame_.loop_depth--;
    Value *next = b_.CreateNSWAdd(counter, llvm::ConstantInt::get(counter->getType(), 1));
    counter->addIncoming(next, b_.GetInsertBlock());
    llvm::BranchInst *back = b_.CreateCondBr(b_.CreateICmpSLT(next, end), loop, after);
    if (s.partition == ir::Partitioning::Remainder)
        keep_rolled(unit_.context, *back);
    b_.SetInsertPoint(after);
}

namespace {

constexpr uint32_t rest_is_rarer = 1024;

/// Whether it computes what whole blocks leave at an edge. Its loops are deeper than those of whole blocks: without weights
/// LLVM gives them the registers.
bool is_rest(const ir::Stmt &s) {
    return contains_stmt(s, [](const ir::StmtNode &c) {
        return c.op == StmtOp::For && c.partition == ir::Partitioning::Remainder;
    });
}

}  // namespace

void StmtEmitter::if_then_else(const ir::StmtNode &s) {
    Value *condition = exprs_.emit(s.condition());
    exprs_.forget();
    bool has_else = s.stmts.size() > 1 && s.else_case().defined();
    llvm::BasicBlock *then = frame_.new_block("then"), *join = frame_.new_block("join");
    llvm::BasicBlock *otherwise = has_else ? frame_.new_block("else") : join;
    llvm::MDNode *weights = nullptr;
    if (has_else && is_rest(s.else_case()))
        weights = llvm::MDBuilder(unit_.context).createBranchWeights(rest_is_rarer, 1);
    b_.CreateCondBr(condition, then, otherwise, weights);
    b_.SetInsertPoint(then);
    emit(s.then_case());
    b_.CreateBr(join);
    if (has_else) {
        b_.SetInsertPoint(otherwise);
        emit(s.else_case());
        b_.CreateBr(join);
    }
    b_.SetInsertPoint(join);
}

}  // namespace Pipe::codegen
