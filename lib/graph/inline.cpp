#include <algorithm>
#include <unordered_map>

#include "graph/extern_stage.h"
#include "graph/graph.h"
#include "graph/inlined_values.h"
#include "ir/visit.h"

namespace Pipe::graph {
namespace {

using ir::Op;

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
            const FuncNode &f = inliner_.original_.funcs[callee];
            auto values = values_.try_emplace(f.id, f.args, f.stages[0].values).first;
            return values->second.at(*now.get(), [&](const Expr &value) { return mutate(value); });
        }

      private:
        Inliner &inliner_;
        std::unordered_map<FuncId, InlinedValues> values_;
    };
};

}  // namespace

Graph inline_funcs(const Graph &graph, const schedules::Schedule &schedule) {
    return Inliner(graph, schedule).run();
}

}  // namespace Pipe::graph
