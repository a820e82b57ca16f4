#include "graph/scatter.h"

#include "graph/graph.h"
#include "graph/walk.h"
#include "ir/intrinsics.h"
#include "ir/print.h"
#include "ir/visit.h"

namespace Pipe::graph {
namespace {

bool is_scatter(const ir::ExprNode &e) {
    return ir::is_intrinsic(e, ir::intrinsic::scatter_gather);
}

class Pick : public ir::GraphMutator {
  public:
    explicit Pick(size_t n) : n_(n) {}

  protected:
    Expr rewrite(const Expr &e) override {
        return is_scatter(*e) ? mutate(e->args.at(n_)) : ir::GraphMutator::rewrite(e);
    }

  private:
    size_t n_;
};

}  // namespace

size_t count_stores(const Stage &stage) {
    size_t count = 0;
    Walk walk;
    auto look = [&](const ir::ExprNode &e) {
        if (!is_scatter(e))
            return;
        if (count != 0 && count != e.args.size())
            throw CompileError(
                "All scatters and gathers of a definition must have the same size, not " +
                std::to_string(count) + " and " + std::to_string(e.args.size()) + ": " +
                ir::shortened(Expr(&e)));
        count = e.args.size();
    };
    for (const Expr &e : stage.args)
        walk(e, look);
    for (const Expr &e : stage.values)
        walk(e, look);
    return count == 0 ? 1 : count;
}

Expr nth_of_scatter(const Expr &e, size_t n) {
    return Pick(n).mutate(e);
}

}  // namespace Pipe::graph
