#include "codegen/device/early_loads.h"

#include <vector>

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace Pipe::codegen {

using llvm::Instruction;

namespace {

/// More would take the registers of the threads.
constexpr size_t most_loads = 48;

bool becomes_a_branch(const Instruction &i) {
    if (const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i))
        return call->getIntrinsicID() == llvm::Intrinsic::sqrt && !call->hasApproxFunc();
    return i.getOpcode() == Instruction::FDiv && !i.hasAllowReciprocal();
}

/// What follows the first division of a block.
class Tail {
  public:
    explicit Tail(Instruction &division) : division_(division) {
        for (Instruction *i = &division; i; i = i->getNextNode())
            behind_.insert(i);
    }

    void move_loads() {
        bool stored = false;
        std::vector<Instruction *> rest;
        for (Instruction *i = division_.getNextNode(); i; i = i->getNextNode())
            rest.push_back(i);
        for (Instruction *i : rest) {
            stored |= i->mayWriteToMemory();
            auto *load = llvm::dyn_cast<llvm::LoadInst>(i);
            if (!load || !load->isSimple() ||
                (stored && !load->hasMetadata(llvm::LLVMContext::MD_invariant_load)))
                continue;
            if (moved_ < most_loads && can_move(*load, /*depth=*/0)) {
                move(*load);
                moved_++;
            }
        }
    }

  private:
    /// An operand that is computed behind the division can be computed before it.
    bool can_move(const Instruction &i, int depth) const {
        constexpr int deepest = 16;
        for (const llvm::Value *operand : i.operands()) {
            const auto *made = llvm::dyn_cast<Instruction>(operand);
            if (!made || !behind_.count(made))
                continue;
            if (depth == deepest || made == &division_ || made->mayReadOrWriteMemory() ||
                becomes_a_branch(*made) ||
                !llvm::isa<llvm::GetElementPtrInst, llvm::CastInst, llvm::BinaryOperator>(made) ||
                made->isIntDivRem() || !can_move(*made, depth + 1))
                return false;
        }
        return true;
    }

    void move(Instruction &i) {
        for (llvm::Value *operand : i.operands())
            if (auto *made = llvm::dyn_cast<Instruction>(operand); made && behind_.count(made))
                move(*made);
        i.moveBefore(&division_);
        behind_.erase(&i);
    }

    Instruction &division_;
    llvm::DenseSet<const llvm::Value *> behind_;  ///< the division and what follows it
    size_t moved_ = 0;
};

}  // namespace

void move_loads_before_divisions(llvm::Module &module) {
    for (llvm::Function &function : module)
        for (llvm::BasicBlock &block : function)
            for (Instruction &i : block)
                if (becomes_a_branch(i)) {
                    Tail(i).move_loads();
                    break;
                }
}

}  // namespace Pipe::codegen
