#include "codegen/share_sums.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Local.h>

namespace Pipe::codegen {

namespace {

using llvm::BinaryOperator;
using llvm::Instruction;
using llvm::Value;

// Limits of compile time: sums with more addends are not changed, and after this many comparisons
// (some tens of milliseconds) sharing stops.
constexpr size_t most_addends = 64, most_comparisons = 1 << 21;

BinaryOperator *as_addition(Value *v) {
    auto *op = llvm::dyn_cast<BinaryOperator>(v);
    if (op && op->getOpcode() == Instruction::FAdd && op->hasAllowReassoc())
        return op;
    bool vector = op && op->getType()->isVectorTy();
    return vector && op->getOpcode() == Instruction::Add ? op : nullptr;
}

/// Whether it is only used as a part of larger sums.
bool is_inner(BinaryOperator *addition) {
    return !addition->use_empty() && std::all_of(addition->user_begin(), addition->user_end(),
                                                 [](llvm::User *u) { return as_addition(u); });
}

struct Sum {
    BinaryOperator *root;
    llvm::SmallSetVector<Value *, 16> addends;
    bool changed = false;
};

/// Returns false if there are too many, or one occurs twice.
bool collect_addends(Sum &sum) {
    std::vector<Value *> rest = {sum.root->getOperand(1), sum.root->getOperand(0)};
    while (!rest.empty()) {
        Value *operand = rest.back();
        rest.pop_back();
        BinaryOperator *inner = as_addition(operand);
        if (inner && is_inner(inner)) {
            rest.push_back(inner->getOperand(1));
            rest.push_back(inner->getOperand(0));
        } else if (!sum.addends.insert(operand)) {
            return false;
        }
        if (rest.size() + sum.addends.size() > most_addends)
            return false;
    }
    return true;
}

std::vector<Sum> collect_sums(llvm::Function &function) {
    std::vector<Sum> sums;
    for (Instruction &i : llvm::instructions(function)) {
        BinaryOperator *root = as_addition(&i);
        if (!root || is_inner(root))
            continue;
        Sum sum{root, {}};
        if (collect_addends(sum))
            sums.push_back(std::move(sum));
    }
    return sums;
}

class Sharing {
  public:
    Sharing(llvm::Function &function, llvm::DominatorTree &dominators)
        : dominators_(dominators), sums_(collect_sums(function)) {}

    bool run() {
        while (std::optional<std::pair<size_t, size_t>> pair = best_pair())
            share(pair->first, pair->second);
        return rewrite();
    }

  private:
    /// Whether one is computed whenever the other is.
    bool together(const Sum &a, const Sum &b) const {
        const llvm::BasicBlock *x = a.root->getParent(), *y = b.root->getParent();
        return dominators_.dominates(x, y) || dominators_.dominates(y, x);
    }

    /// The indices of the two sums that have most addends in common, at least two.
    std::optional<std::pair<size_t, size_t>> best_pair() {
        llvm::DenseMap<Value *, std::vector<size_t>> sums_of;
        std::optional<std::pair<size_t, size_t>> best;
        size_t most = 1;
        for (size_t i = 0; i < sums_.size(); i++) {
            std::map<size_t, size_t> common;
            for (Value *addend : sums_[i].addends) {
                std::vector<size_t> &earlier = sums_of[addend];
                comparisons_ += earlier.size() + 1;
                for (size_t j : earlier)
                    common[j]++;
                earlier.push_back(i);
            }
            if (comparisons_ > most_comparisons)
                return {};
            for (auto [j, count] : common) {
                if (count > most && same_kind(sums_[i], sums_[j]) && together(sums_[i], sums_[j])) {
                    most = count;
                    best = {j, i};
                }
            }
        }
        return best;
    }

    static bool same_kind(const Sum &a, const Sum &b) {
        return a.root->getOpcode() == b.root->getOpcode();
    }

    /// Replaces the common addends of the two by a new one, in all sums that contain them.
    void share(size_t first, size_t second) {
        llvm::SmallSetVector<Value *, 16> common;
        for (Value *addend : sums_[first].addends) {
            if (sums_[second].addends.contains(addend))
                common.insert(addend);
        }
        std::vector<Sum *> users;
        for (Sum &sum : sums_) {
            bool all = std::all_of(common.begin(), common.end(),
                                   [&](Value *v) { return sum.addends.contains(v); });
            if (all && same_kind(sum, sums_[first]) && together(sum, sums_[first]))
                users.push_back(&sum);
        }
        llvm::IRBuilder<> b(common.front()->getContext());
        set_insertion_point(b, common, *users[0]);
        Value *shared = chain(b, common.getArrayRef(), users[0]->root);
        for (Sum *user : users) {
            user->changed = true;
            user->addends.remove_if([&](Value *v) { return common.contains(v); });
            user->addends.insert(shared);
        }
    }

    /// Whether anything was shared.
    bool rewrite() {
        llvm::DenseMap<Value *, Value *> rewritten;
        for (Sum &sum : sums_) {
            if (!sum.changed)
                continue;
            std::vector<Value *> addends;
            for (Value *v : sum.addends)
                addends.push_back(rewritten.count(v) ? rewritten[v] : v);
            llvm::IRBuilder<> b(sum.root);
            Value *rebuilt = chain(b, addends, sum.root);
            rewritten[sum.root] = rebuilt;
            sum.root->replaceAllUsesWith(rebuilt);
        }
        for (auto [root, rebuilt] : rewritten)
            llvm::RecursivelyDeleteTriviallyDeadInstructions(root);
        return !rewritten.empty();
    }

    /// After the last of the addends. All dominate the sum, so of any two, one dominates the other.
    void set_insertion_point(llvm::IRBuilder<> &b, const llvm::SmallSetVector<Value *, 16> &addends,
                             const Sum &user) {
        Instruction *last = nullptr;
        for (Value *v : addends) {
            auto *i = llvm::dyn_cast<Instruction>(v);
            if (i && (!last || dominators_.dominates(last, i)))
                last = i;
        }
        if (!last)
            b.SetInsertPoint(user.root->getFunction()->getEntryBlock().getTerminator());
        else if (llvm::isa<llvm::PHINode>(last))
            b.SetInsertPoint(last->getParent(), last->getParent()->getFirstInsertionPt());
        else
            b.SetInsertPoint(last->getNextNode());
    }

    /// Begins with an addend that is not a product, so that each product meets a sum to which it is
    /// added.
    static Value *chain(llvm::IRBuilder<> &b, llvm::ArrayRef<Value *> addends,
                        BinaryOperator *like) {
        std::vector<Value *> order(addends.begin(), addends.end());
        std::stable_partition(order.begin(), order.end(), [](Value *v) {
            auto *op = llvm::dyn_cast<BinaryOperator>(v);
            return !op || op->getOpcode() != Instruction::FMul;
        });
        Value *sum = order[0];
        for (size_t i = 1; i < order.size(); i++) {
            sum = b.CreateBinOp(like->getOpcode(), sum, order[i]);
            auto *op = llvm::dyn_cast<BinaryOperator>(sum);
            if (op && op->getOpcode() == Instruction::FAdd)
                op->setFastMathFlags(like->getFastMathFlags());
        }
        return sum;
    }

    llvm::DominatorTree &dominators_;
    std::vector<Sum> sums_;
    size_t comparisons_ = 0;
};

}  // namespace

llvm::PreservedAnalyses ShareSums::run(llvm::Function &function,
                                       llvm::FunctionAnalysisManager &analyses) {
    Sharing sharing(function, analyses.getResult<llvm::DominatorTreeAnalysis>(function));
    if (!sharing.run())
        return llvm::PreservedAnalyses::all();
    llvm::PreservedAnalyses preserved;
    preserved.preserveSet<llvm::CFGAnalyses>();
    return preserved;
}

}  // namespace Pipe::codegen
