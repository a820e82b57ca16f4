#include "autoschedule/gpu/choose_threads.h"

#include <algorithm>

#include "autoschedule/gpu/reduction_threads.h"
#include "graph/extern_stage.h"
#include "graph/reduction.h"
#include "ir/extern_functions.h"
#include "ir/visit.h"

namespace Pipe::autoschedule {

using namespace ir;

namespace {

bool calls_host(const Expr &e) {
    return e.defined() && contains(e, [](const ExprNode &n) {
               const bool foreign =
                   n.call_kind == CallKind::Extern ||
                   (n.call_kind == CallKind::PureExtern && n.index == users_function);
               return (n.op == Op::Call && foreign) || n.type.is_handle();
           });
}

bool calls_host(const graph::Stage &stage) {
    auto any = [](const std::vector<Expr> &list) {
        return std::any_of(list.begin(), list.end(), [](const Expr &e) { return calls_host(e); });
    };
    return any(stage.values) || any(stage.args);
}

bool may_regroup(const graph::FuncNode &func, size_t s, const Machine &machine) {
    std::string why;
    auto reduction = graph::as_reduction(func, s, &why);
    return reduction && reduction->commutative && (reduction->exact || machine.fast_math);
}

/// Whether every iteration can add what it has to the elements at once.
bool is_atomic_reduction(const graph::FuncNode &func, size_t s, const Machine &machine) {
    return func.types.size() == 1 && !func.types[0].is_bool() && func.types[0].bits() >= 32 &&
           may_regroup(func, s, machine);
}

/// Chooses what the threads of an update run over. False where they would be too few for a kernel.
bool find_threads(const graph::FuncNode &func, size_t s, const Node &node, const Machine &machine,
                  StageCost &stage) {
    constexpr double enough = 32, plenty = 1 << 16, few_steps = 256;
    const double points = node.looped_points(stage);
    double cells = 1;
    if (s == 0 || stage.rvars.empty())
        return true;
    if (is_long_reduction(node, stage) && may_regroup(func, s, machine)) {
        stage.threads = Threads::Parts;
        return true;
    }
    for (const Cells &c : stage.cells)
        cells *= c.count;
    if (points >= plenty || (points >= enough && cells < enough))
        return true;
    if (cells * points >= enough)
        stage.threads = Threads::Cells;
    else if (is_atomic_reduction(func, s, machine))
        stage.threads = Threads::Atomic;
    else
        return points > 1 && stage.repeats <= few_steps;
    return true;
}

bool is_on_host(Node &node, const graph::FuncNode &func, const schedules::FuncSchedule &schedule,
                const Machine &machine) {
    if (schedule.async || schedule.memoize ||
        schedule.copied_to != schedules::CopiedTo::Unspecified)
        return true;
    for (size_t s = 0; s < func.stages.size(); s++)
        if (calls_host(func.stages[s]) || !find_threads(func, s, node, machine, node.stages[s]))
            return true;
    return false;
}

}  // namespace

void choose_threads(StageGraph &nodes, const graph::Graph &graph,
                    const schedules::Schedule &schedule, const Machine &machine) {
    for (Node &node : nodes.nodes)
        node.on_host = is_on_host(node, graph[node.id], schedule[node.id], machine);
}

}  // namespace Pipe::autoschedule
