#include "graph/renumber.h"

#include <utility>

#include "ir/visit.h"

namespace Pipe::graph {
namespace {

using schedules::LoopLevel;

class Renumber : public ir::GraphMutator {
  public:
    explicit Renumber(const std::vector<FuncId> &ids) : ids_(ids) {}

    void levels(schedules::FuncSchedule &s) const {
        for (LoopLevel *l : {&s.compute, &s.store, &s.hoist})
            level(*l);
        for (schedules::StageSchedule &stage : s.stages)
            levels(stage);
    }

  protected:
    Expr rewrite(const Expr &e) override {
        Expr now = ir::GraphMutator::rewrite(e);
        if (now->op != ir::Op::Call || now->call_kind != ir::CallKind::Func)
            return now;
        auto *node = new ir::ExprNode(ir::Op::Call, now.type());
        node->call_kind = ir::CallKind::Func;
        node->index = now->index;
        node->int_value = static_cast<int64_t>(ids_[static_cast<size_t>(now->int_value)]);
        node->args = now->args;
        node->name = now->name;
        return Expr(node);
    }

  private:
    const std::vector<FuncId> &ids_;

    void level(LoopLevel &l) const {
        if (l.at())
            l.func = ids_[static_cast<size_t>(l.func)];
    }
    void levels(schedules::StageSchedule &s) const {
        level(s.fuse_level);
        for (schedules::Specialization &special : s.specializations)
            levels(special.schedule);
    }
};

}  // namespace

void renumber(Graph &graph, schedules::Schedule &schedule, const std::vector<size_t> &order) {
    std::vector<FuncId> ids(order.size());
    for (size_t i = 0; i < order.size(); i++)
        ids[order[i]] = static_cast<FuncId>(i);
    Renumber renumber(ids);
    std::vector<FuncNode> funcs;
    std::vector<schedules::FuncSchedule> schedules;
    for (size_t i = 0; i < order.size(); i++) {
        FuncNode &f = funcs.emplace_back(std::move(graph.funcs[order[i]]));
        f.id = static_cast<FuncId>(i);
        for (Stage &stage : f.stages)
            for_each_expr(stage, [&](Expr &e) { e = renumber.mutate(e); });
        renumber.levels(schedules.emplace_back(std::move(schedule.funcs[order[i]])));
    }
    for (FuncId &id : graph.outputs)
        id = ids[static_cast<size_t>(id)];
    graph.funcs = std::move(funcs);
    schedule.funcs = std::move(schedules);
}

}  // namespace Pipe::graph
