#pragma once
// Walking graphs: which nodes are worth remembering.

#include <unordered_map>
#include <utility>

#include "ir/expr_node.h"

namespace Pipe::ir {

/// False if the node surely has one parent only, so that a walk meets it once per visit of its
/// parent: walks that remember the shared nodes take linear time on graphs, and stay cheap on
/// trees. `own`: how many of the references to the node are the walk's own.
inline bool is_shared(const Expr &e, int own = 0) {
    return !e->args.empty() && e->references.load(std::memory_order_relaxed) > 1 + own;
}

/// What a rewrite has made of nodes that it may meet again.
class Memo {
  public:
    /// rewrite(), or what it gave for `e` before.
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
