// Atomic updates of an element.

#include <optional>

#include "codegen/expr_emitter.h"
#include "ir/equal.h"
#include "ir/visit.h"

namespace Pipe::codegen {

using llvm::Value;

namespace {

/// The atomic instruction for `element = element op value`, if there is one.
std::optional<llvm::AtomicRMWInst::BinOp> single_operation(ir::Op op, Type type) {
    using RMW = llvm::AtomicRMWInst;
    if (type.is_bool())
        return std::nullopt;
    if (type.is_float())
        return op == ir::Op::Add   ? std::optional(RMW::FAdd)
               : op == ir::Op::Sub ? std::optional(RMW::FSub)
                                   : std::nullopt;
    switch (op) {
    case ir::Op::Add:
        return RMW::Add;
    case ir::Op::Sub:
        return RMW::Sub;
    case ir::Op::Min:
        return type.is_int() ? RMW::Min : RMW::UMin;
    case ir::Op::Max:
        return type.is_int() ? RMW::Max : RMW::UMax;
    default:
        return std::nullopt;
    }
}

bool is_old_value(const ir::StmtNode &s, const Expr &e) {
    return e->op == ir::Op::Load && e->name == s.name && ir::equal(e->element(), s.index());
}

bool reads(const Expr &e, const std::string &buffer) {
    bool found = e->op == ir::Op::Load && e->name == buffer;
    for (const Expr &arg : e->args)
        found = found || (arg.defined() && reads(arg, buffer));
    return found;
}

/// The element's old value -> a variable.
class WithOldValue : public ir::GraphMutator {
  public:
    WithOldValue(const ir::StmtNode &s, Expr old) : store_(s), old_(std::move(old)) {}

  protected:
    Expr rewrite(const Expr &e) override {
        return is_old_value(store_, e) ? old_ : ir::GraphMutator::rewrite(e);
    }

  private:
    const ir::StmtNode &store_;
    Expr old_;
};

}  // namespace

void ExprEmitter::mark_atomic(llvm::Instruction *access, const std::string &buffer) {
    if (frame_.kernel && frame_.kernel->emulated_thread)
        tell_emulator(access, buffer);
}

/// Emits an atomic read-modify-write: with the processor's instruction if there is one, else with a
/// compare-and-swap loop.
void ExprEmitter::store_atomic(const ir::StmtNode &s) {
    const Expr &value = s.value();
    Type type = value.type();
    constexpr auto order = llvm::AtomicOrdering::Monotonic;
    Value *p = address(s.name, type, offset(s.index()));
    llvm::Align align(static_cast<uint64_t>(type.bytes()));
    for (size_t side : {size_t(0), size_t(1)}) {
        auto op = value->args.size() == 2 ? single_operation(value->op, type) : std::nullopt;
        if (!op || !is_old_value(s, value->args[side]) || reads(value->args[1 - side], s.name))
            continue;
        if (side == 1 && value->op == ir::Op::Sub)
            continue;
        mark_atomic(b_.CreateAtomicRMW(*op, p, emit(value->args[1 - side]), align, order), s.name);
        return;
    }
    llvm::Type *bits = b_.getIntNTy(static_cast<unsigned>(8 * type.bytes()));
    llvm::Type *memory = memory_type(unit_.context, type);
    llvm::LoadInst *first = b_.CreateAlignedLoad(bits, p, align);
    first->setAtomic(order);
    mark_atomic(first, s.name);
    llvm::BasicBlock *before = b_.GetInsertBlock();
    llvm::BasicBlock *again = frame_.new_block("atomic"), *done = frame_.new_block("updated");
    b_.CreateBr(again);
    b_.SetInsertPoint(again);
    llvm::PHINode *seen = b_.CreatePHI(bits, 2);
    seen->addIncoming(first, before);
    Binding old;
    old.value = from_memory(b_, type, b_.CreateBitCast(seen, memory));
    old.depth = frame_.loop_depth;
    if (type.is_int_or_uint())
        old.range = range_of_type(type);
    const std::string name = s.name + ".old";
    frame_.variables.push(name, old);
    Expr now = WithOldValue(s, ir::make_variable(type, name)).mutate(value);
    Value *wanted = with_empty_memo([&] { return emit(now); });
    frame_.variables.pop(name);
    auto *swap = b_.CreateAtomicCmpXchg(
        p, seen, b_.CreateBitCast(to_memory(b_, type, wanted), bits), align, order, order);
    mark_atomic(swap, s.name);
    seen->addIncoming(b_.CreateExtractValue(swap, 0), b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateExtractValue(swap, 1), done, again);
    b_.SetInsertPoint(done);
}

}  // namespace Pipe::codegen
