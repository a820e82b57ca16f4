#include "autoschedule/gpu/choose_threads.h"

#include <algorithm>

#include "graph/extern_stage.h"
#include "graph/reduction.h"
#include "ir/equal.h"
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

/// `e` without constants that are added to it.
Expr without_constant(Expr e) {
    int64_t added = 0;
    while ((e->op == Op::Add || e->op == Op::Sub) && as_const_int(e->args[1], &added))
        e = e->args[0];
    return e;
}

/// Whether an update reads other elements of its Func than the one that it stores, as a scan does.
bool reads_elsewhere(const graph::FuncNode &func, const graph::Stage &stage) {
    const graph::IsSelf is_self = graph::calls_of(func.id);
    auto is_other = [&](const ExprNode &n) {
        return is_self(n) &&
               !std::equal(n.args.begin(), n.args.end(), stage.args.begin(), stage.args.end(),
                           [](const Expr &a, const Expr &b) { return equal(a, b); });
    };
    return std::any_of(stage.values.begin(), stage.values.end(),
                       [&](const Expr &e) { return contains(e, is_other); });
}

/// Of the coordinates of a scatter, those that are `r` or `r / n`.
std::vector<Cells> cells_of(const graph::FuncNode &func, const graph::Stage &stage,
                            const StageCost &cost) {
    std::vector<Cells> all;
    if (reads_elsewhere(func, stage))
        return all;
    for (const Expr &arg : stage.args) {
        Expr e = without_constant(arg);
        int64_t size = 1, min = 0;
        if (e->op == Op::Div && as_const_int(e->args[1], &size) && size > 0)
            e = e->args[0];
        for (size_t k = 0; k < stage.rvars.size() && k < cost.rvars.size(); k++) {
            const graph::ReductionVar &r = stage.rvars[k];
            const bool is_first = std::none_of(all.begin(), all.end(),
                                               [&](const Cells &c) { return c.rvar == r.name; });
            if (e->op == Op::Variable && e->name == r.name && is_first &&
                as_const_int(r.min, &min) && min % size == 0)
                all.push_back(
                    {r.name, size, static_cast<double>((cost.rvars[k] + size - 1) / size)});
        }
    }
    return all;
}

/// Chooses what the threads of an update run over. False where they would be too few for a kernel.
bool find_threads(const graph::FuncNode &func, size_t s, const Node &node, const Machine &machine,
                  StageCost &stage) {
    constexpr double enough = 32, few_steps = 256;
    double points = 1, cells = 1;
    for (size_t d = 0; d < stage.loops_over.size(); d++)
        if (stage.loops_over[d])
            points *= static_cast<double>(node.extents[d]);
    if (s == 0 || stage.rvars.empty() || points >= enough)
        return true;
    stage.cells = cells_of(func, func.stages[s], stage);
    for (const Cells &c : stage.cells)
        cells *= c.count;
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
    if (schedule.async || schedule.memoize)
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
