#include "autoschedule/cells.h"

#include <algorithm>
#include <tuple>

#include "graph/reduction.h"
#include "ir/equal.h"
#include "ir/visit.h"

namespace Pipe::autoschedule {

using ir::ExprNode;
using ir::Op;
using schedules::Dim;

namespace {

/// `e` without constants that are added to it.
Expr without_constant(Expr e) {
    int64_t added = 0;
    while ((e->op == Op::Add || e->op == Op::Sub) && ir::as_const_int(e->b(), &added))
        e = e->a();
    return e;
}

/// Two constants that differ: f(.., 2) is never an element f(.., 1).
bool differ(const Expr &a, const Expr &b) {
    int64_t x = 0, y = 0;
    return ir::as_const_int(a, &x) && ir::as_const_int(b, &y) && x != y;
}

/// Whether an update may read other elements of its Func that it stores, as a scan does.
bool reads_elsewhere(const graph::FuncNode &func, const graph::Stage &stage) {
    const graph::IsSelf is_self = graph::calls_of(func.id);
    auto is_other = [&](const ExprNode &n) {
        if (!is_self(n))
            return false;
        bool same = true, apart = false;
        for (size_t d = 0; d < n.args.size(); d++) {
            same = same && ir::equal(n.args[d], stage.args[d]);
            apart = apart || differ(n.args[d], stage.args[d]);
        }
        return !same && !apart;
    };
    return std::any_of(stage.values.begin(), stage.values.end(),
                       [&](const Expr &e) { return ir::contains(e, is_other); }) ||
           std::any_of(stage.args.begin(), stage.args.end(),
                       [&](const Expr &e) { return ir::contains(e, is_self); });
}

}  // namespace

std::vector<Cells> cells_of(const graph::FuncNode &func, const graph::Stage &stage,
                            const StageCost &cost) {
    std::vector<Cells> all;
    if (reads_elsewhere(func, stage))
        return all;
    for (const Expr &arg : stage.args) {
        Expr e = without_constant(arg);
        int64_t size = 1, min = 0;
        if (e->op == Op::Div && ir::as_const_int(e->b(), &size) && size > 0)
            e = e->a();
        for (size_t k = 0; k < stage.rvars.size() && k < cost.rvars.size(); k++) {
            const graph::ReductionVar &r = stage.rvars[k];
            const bool is_first = std::none_of(all.begin(), all.end(),
                                               [&](const Cells &c) { return c.rvar == r.name; });
            if (e->op == Op::Variable && e->name == r.name && is_first &&
                ir::as_const_int(r.min, &min) && min % size == 0)
                all.push_back(
                    {r.name, size, static_cast<double>((cost.rvars[k] + size - 1) / size)});
        }
    }
    return all;
}

bool is_parallel_over_cells(const Node &node, const StageCost &stage, int cores) {
    constexpr double enough = 4;  // iterations per core
    if (cores == 1 || stage.cells.empty() || stage.loops_over_all())
        return false;
    double outermost = 1;
    for (size_t d = 0; d < stage.loops_over.size(); d++)
        if (stage.loops_over[d])
            outermost = double(node.extents[d]);
    return outermost < enough * cores && stage.cells.back().count > outermost;
}

std::vector<Dim> loops_over_cells(InnerLoops inner, const Node &node, const StageCost &stage) {
    std::vector<Dim> dims;
    for (const Cells &cells : stage.cells) {
        const auto loop = std::find_if(inner.reductions.begin(), inner.reductions.end(),
                                       [&](const Dim &d) { return d.name == cells.rvar; });
        Dim cell = *loop;
        if (cells.size > 1)
            std::tie(cell.name, loop->name) = inner.loops.split(cells.rvar, "_o", "_i", cells.size);
        else
            inner.reductions.erase(loop);
        dims.push_back(cell);
    }
    Dim parallel = dims.back();
    parallel.kind = LoopKind::Parallel;
    dims.pop_back();
    dims.insert(dims.end(), inner.reductions.begin(), inner.reductions.end());
    for (const std::string &name : inner.names)
        if (!name.empty())
            dims.push_back({name, LoopKind::Serial, false});
    unroll_channels(inner, node, dims);
    dims.push_back(parallel);
    return dims;
}

}  // namespace Pipe::autoschedule
