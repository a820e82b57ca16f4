#pragma once
// Collects the names in an expression.

#include <memory>
#include <unordered_set>
#include <vector>

#include "graph/contents.h"

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

/// All names, in order of first use.
struct Names {
    std::vector<std::string> vars;  ///< Variables without referent
    std::vector<std::shared_ptr<const RDomContents>> rdoms;
    std::vector<std::shared_ptr<const FuncContents>> funcs;
    std::vector<const ir::ExprNode *> calls;                   ///< of Funcs, every node
    std::vector<std::shared_ptr<const ImageContents>> images;  ///< of ImageParams
    bool reads_images = false;

    void add(const Expr &e);

  private:
    Walk walk_;
};

/// Whether the value does not depend on coordinates: it contains only constants, Params and sizes
/// of images.
bool is_uniform(const Expr &e);

/// Recomputes what the definitions of a Func read (FuncContents::callees, images).
void find_callees(FuncContents &func);

}  // namespace Pipe::graph
