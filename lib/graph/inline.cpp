#include <algorithm>
#include <unordered_map>

#include "graph/extern_stage.h"
#include "graph/graph.h"
#include "ir/equal.h"
#include "ir/visit.h"

namespace Pipe::graph {
namespace {

using ir::Op;

/// Replaces the pure variables of a definition. Sums with constants are folded, so that f(x - 1 +
/// 1) and f(x) are recognized as the same point.
class Substitute : public ir::GraphMutator {
  public:
    Substitute(const std::vector<std::string> &names, const std::vector<Expr> &values)
        : names_(names), values_(values) {}

  protected:
    Expr rewrite(const Expr &e) override {
        if (e->op == Op::Variable) {
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

/// The values of an inlined Func at one point.
struct Point {
    int64_t func;
    int32_t index;
    std::vector<Expr> args;

    bool operator==(const Point &other) const {
        return func == other.func && index == other.index &&
               std::equal(args.begin(), args.end(), other.args.begin(), other.args.end(),
                          ir::ExprEqual());
    }
};

struct PointHash {
    size_t operator()(const Point &p) const {
        size_t h = ir::hash_combine(static_cast<size_t>(p.func), static_cast<size_t>(p.index));
        for (const Expr &e : p.args)
            h = ir::hash_combine(h, ir::hash(e));
        return h;
    }
};

class Inliner {
  public:
    Inliner(const Graph &graph, const schedules::Schedule &schedule)
        : original_(graph), result_(graph), inlined_(graph.funcs.size()) {
        std::vector<bool> whole = read_as_whole(graph);
        for (const FuncNode &f : graph.funcs)
            inlined_[static_cast<size_t>(f.id)] = !f.is_output && !f.has_updates() &&
                                                  !whole[static_cast<size_t>(f.id)] &&
                                                  schedule[f.id].compute.inlined();
    }

    /// The original definitions of inlined Funcs.
    Graph run() {
        for (FuncNode &f : result_.funcs) {
            if (inlined_[static_cast<size_t>(f.id)])
                continue;
            Rewriter rewrite(*this);
            bool reads_inlined = std::any_of(f.producers.begin(), f.producers.end(), [&](FuncId p) {
                return inlined_[static_cast<size_t>(p)];
            });
            for (Stage &stage : f.stages) {
                if (reads_inlined)
                    for_each_expr(stage, [&](Expr &e) { e = rewrite.mutate(e); });
                make_coordinates_strict(stage);
            }
        }
        connect(result_, [&](const FuncNode &f) { return !inlined_[static_cast<size_t>(f.id)]; });
        return std::move(result_);
    }

  private:
    const Graph &original_;
    Graph result_;
    std::vector<bool> inlined_;

    /// Inlines into one consumer, from the outside in, and computes each point of every inlined
    /// Func once, so that chains of stencils do not grow exponentially.
    class Rewriter : public ir::GraphMutator {
      public:
        explicit Rewriter(Inliner &inliner) : inliner_(inliner) {}

      protected:
        Expr rewrite(const Expr &e) override {
            Expr now = ir::GraphMutator::rewrite(e);
            if (now->op != Op::Call || now->call_kind != ir::CallKind::Func)
                return now;
            auto callee = static_cast<size_t>(now->int_value);
            if (!inliner_.inlined_[callee])
                return now;
            Point point{now->int_value, now->index, now->args};
            for (Expr &arg : point.args)  // x - 1 as x + (-1): a canonical form for comparisons
                if (arg->op == Op::Sub)
                    arg = ir::sub(arg->a(), arg->b());
            auto found = points_.find(point);
            if (found != points_.end())
                return found->second;
            const FuncNode &f = inliner_.original_.funcs[callee];
            Substitute substitute(f.args, point.args);
            Expr value =
                mutate(substitute.mutate(f.stages[0].values[static_cast<size_t>(now->index)]));
            points_.emplace(std::move(point), value);
            return value;
        }

      private:
        Inliner &inliner_;
        std::unordered_map<Point, Expr, PointHash> points_;
    };
};

}  // namespace

Graph inline_funcs(const Graph &graph, const schedules::Schedule &schedule) {
    return Inliner(graph, schedule).run();
}

}  // namespace Pipe::graph
