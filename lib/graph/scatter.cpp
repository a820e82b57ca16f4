#include "graph/scatter.h"

#include "graph/collect.h"
#include "graph/match.h"
#include "ir/intrinsics.h"
#include "ir/visit.h"
#include <pipe/operators.h>

namespace Pipe {
namespace {

Expr several(const char *name, const std::vector<Expr> &given) {
    if (given.empty())
        throw CompileError(std::string(name) + "() needs at least one value.");
    std::vector<Expr> values = given;
    graph::require_defined(name, values[0]);
    Type type = values[0].type();
    for (Expr &value : values) {
        graph::require_defined(name, value);
        Expr first = values[0];
        graph::adapt_constants(name, first, value);
        if (first.type() != values[0].type())  // the first one was the constant
            values[0] = first;
        type = values[0].type();
    }
    for (Expr &value : values) {
        graph::adapt_constants(name, value, values[0]);
        if (value.type() != type)
            graph::reject(name, values[0], value, "all values must have one type. Cast them.");
    }
    return ir::make_call(type, ir::intrinsic::scatter_gather, values, ir::CallKind::Intrinsic);
}

}  // namespace

Expr scatter(const std::vector<Expr> &values) {
    return several("scatter", values);
}
Expr gather(const std::vector<Expr> &values) {
    return several("gather", values);
}

}  // namespace Pipe

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
                shortened(Expr(&e)));
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
