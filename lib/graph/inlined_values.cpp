#include "graph/inlined_values.h"

#include <algorithm>

#include "ir/equal.h"
#include "ir/visit.h"

namespace Pipe::graph {

using ir::Op;

namespace {

/// Replaces the pure variables of a definition. Sums with constants are folded, so that f(x - 1 +
/// 1) and f(x) are recognized as the same point. (A Param of the same name is a different object.)
class Substitute : public ir::GraphMutator {
  public:
    Substitute(const std::vector<std::string> &names, const std::vector<Expr> &values)
        : names_(names), values_(values) {}

  protected:
    Expr rewrite(const Expr &e) override {
        if (e->op == Op::Variable && !e->referent) {
            auto found = std::find(names_.begin(), names_.end(), e->name);
            return found == names_.end() ? e : values_[static_cast<size_t>(found - names_.begin())];
        }
        Expr now = ir::GraphMutator::rewrite(e);
        if (now.type() != Int(32) || now.same_as(e))
            return now;
        if (now->op == Op::Add)
            return ir::add(now->a(), now->b());
        if (now->op == Op::Sub)
            return ir::sub(now->a(), now->b());
        return now;
    }

  private:
    const std::vector<std::string> &names_;
    const std::vector<Expr> &values_;
};

}  // namespace

bool InlinedValues::Point::operator==(const Point &other) const {
    return element == other.element && std::equal(args.begin(), args.end(), other.args.begin(),
                                                  other.args.end(), ir::ExprEqual());
}

size_t InlinedValues::PointHash::operator()(const Point &p) const {
    auto h = static_cast<size_t>(p.element);
    for (const Expr &e : p.args)
        h = ir::hash_combine(h, ir::hash(e));
    return h;
}

InlinedValues::Point InlinedValues::point_of(const ir::ExprNode &call) {
    Point point{call.index, call.args};
    for (Expr &arg : point.args)  // x - 1 as x + (-1): a canonical form for comparisons
        if (arg->op == Op::Sub)
            arg = ir::sub(arg->a(), arg->b());
    return point;
}

Expr InlinedValues::definition_at(const Point &point) const {
    return Substitute(vars_, point.args).mutate(values_[static_cast<size_t>(point.element)]);
}

}  // namespace Pipe::graph
