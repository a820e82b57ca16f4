#pragma once
// Visits the nodes of several expressions that may share parts.

#include <unordered_set>
#include <vector>

#include "ir/expr_node.h"

namespace Pipe::graph {

/// Calls f on every node below the expressions, each shared node once.
class Walk {
  public:
    template <typename F> void operator()(const Expr &e, F &&f) {
        if (!e.defined())
            return;
        std::vector<const ir::ExprNode *> pending{e.get()};
        while (!pending.empty()) {
            const ir::ExprNode *node = pending.back();
            pending.pop_back();
            if (!seen_.insert(node).second)
                continue;
            f(*node);
            for (size_t i = node->args.size(); i-- > 0;)
                if (node->args[i].defined())
                    pending.push_back(node->args[i].get());
        }
    }

  private:
    std::unordered_set<const ir::ExprNode *> seen_;
};

}  // namespace Pipe::graph
