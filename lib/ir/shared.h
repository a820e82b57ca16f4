#pragma once
// Memoization in walks over expression graphs.

#include <unordered_map>
#include <utility>

#include "ir/expr_node.h"

namespace Pipe::ir {

/// Returns false if the node has certainly only one parent, so that a walk meets it once per visit
/// of its parent: walks that remember only shared nodes take linear time on graphs, and stay cheap
/// on trees. `own`: the number of references to the node that the walk itself holds.
inline bool is_shared(const Expr &e, int own = 0) {
    return !e->args.empty() && e->references.load(std::memory_order_relaxed) > 1 + own;
}

/// The results of rewriting nodes that may be met again.
class Memo {
  public:
    /// rewrite(), or its earlier result for `e`.
    template <typename F> Expr operator()(const Expr &e, F &&rewrite) {
        auto found = done_.find(e.get());
        if (found != done_.end())
            return found->second.second;
        Expr result = rewrite();
        done_.emplace(e.get(), std::pair{e, result});  // keeps e alive: the key is its address
        return result;
    }
    void clear() { done_.clear(); }

  private:
    std::unordered_map<const ExprNode *, std::pair<Expr, Expr>> done_;
};

}  // namespace Pipe::ir
