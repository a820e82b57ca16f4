#include "graph/permute_args.h"

#include "ir/visit.h"

namespace Pipe::graph {

namespace {

template <typename T>
std::vector<T> permuted(const std::vector<T> &list, const DimensionOrder &order) {
    std::vector<T> result;
    for (size_t old : order)
        result.push_back(list[old]);
    return result;
}

class PermuteCalls : public ir::GraphMutator {
  public:
    explicit PermuteCalls(const std::unordered_map<std::string, DimensionOrder> &orders)
        : orders_(orders) {}

  protected:
    Expr rewrite(const Expr &e) override {
        const Expr now = ir::GraphMutator::rewrite(e);
        if (now->op != ir::Op::Call || now->call_kind != ir::CallKind::Func)
            return now;
        const auto order = orders_.find(now->name);
        return order == orders_.end() ? now
                                      : ir::with_args(now, permuted(now->args, order->second));
    }

  private:
    const std::unordered_map<std::string, DimensionOrder> &orders_;
};

}  // namespace

void permute_args(Graph &graph, const std::unordered_map<std::string, DimensionOrder> &orders) {
    if (orders.empty())
        return;
    PermuteCalls calls(orders);
    for (FuncNode &func : graph.funcs) {
        for (Stage &stage : func.stages)
            for_each_expr(stage, [&](Expr &e) { e = calls.mutate(e); });
        const auto order = orders.find(func.name);
        if (order == orders.end())
            continue;
        func.args = permuted(func.args, order->second);
        for (Stage &stage : func.stages)
            stage.args = permuted(stage.args, order->second);
        for (BufferPromise &promise : func.output_promises)
            if (promise.dims.size() == order->second.size())
                promise.dims = permuted(promise.dims, order->second);
    }
}

}  // namespace Pipe::graph
