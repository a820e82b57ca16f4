#include "autoschedule/gpu/host_nodes.h"

#include <algorithm>

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

/// Whether every iteration can add what it has to the elements at once.
bool is_atomic_reduction(const graph::FuncNode &func, size_t s, const Machine &machine) {
    if (func.types.size() != 1)
        return false;
    std::string why;
    auto reduction = graph::as_reduction(func.stages[s], graph::calls_of(func.id), &why);
    return reduction && reduction->commutative && (reduction->exact || machine.fast_math) &&
           !func.types[0].is_bool() && func.types[0].bits() >= 32;
}

bool is_on_host(const Node &node, const graph::FuncNode &func,
                const schedules::FuncSchedule &schedule, const Machine &machine) {
    if (schedule.async || schedule.memoize)
        return true;
    for (size_t s = 0; s < func.stages.size(); s++) {
        const auto &over = node.stages[s].loops_over;
        const bool has_pure = std::find(over.begin(), over.end(), true) != over.end();
        if (calls_host(func.stages[s]) || (!has_pure && !is_atomic_reduction(func, s, machine)))
            return true;
    }
    return false;
}

}  // namespace

void mark_host_nodes(StageGraph &nodes, const graph::Graph &graph,
                     const schedules::Schedule &schedule, const Machine &machine) {
    for (Node &node : nodes.nodes)
        node.on_host = is_on_host(node, graph[node.id], schedule[node.id], machine);
}

}  // namespace Pipe::autoschedule
