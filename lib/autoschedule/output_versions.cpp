#include "autoschedule/output_versions.h"

#include <algorithm>
#include <utility>

#include "autoschedule/register_block.h"
#include "autoschedule/row_sharing.h"
#include "autoschedule/stage_loops.h"
#include "ir/int32.h"
#include "ir/program.h"
#include "ir/substitute.h"
#include "ir/visit.h"

namespace Pipe::autoschedule {

using graph::FuncNode;
using graph::Graph;
using schedules::Dim;
using schedules::FuncSchedule;
using schedules::StageSchedule;

namespace {

/// Whether the user promised where a dimension of the output's buffers begins.
bool has_promised_min(const FuncNode &func, size_t d) {
    return std::any_of(func.output_promises.begin(), func.output_promises.end(),
                       [&](const graph::BufferPromise &promise) {
                           return d < promise.dims.size() && promise.dims[d].min.defined();
                       });
}

/// That a dimension of the output's buffer begins at 0.
Expr begins_at_0(const FuncNode &func, size_t d) {
    const Expr min = ir::make_variable(Int(32), ir::min_name(graph::buffer_name(func, 0), d));
    return ir::make_binary(ir::Op::EQ, min, ir::int32(0));
}

/// That a dimension of the output's buffer has so many elements.
Expr has_extent(const FuncNode &func, size_t d, int64_t elements) {
    const Expr extent = ir::make_variable(Int(32), ir::extent_name(graph::buffer_name(func, 0), d));
    return ir::make_binary(ir::Op::EQ, extent, ir::int32(static_cast<int32_t>(elements)));
}

/// Vectors of an output that reads at x % 32 or x / 32 are dense where they begin at multiples of their lanes. This
/// is known where its buffer begins at 0, as most do: for these, a version of their own.
bool gains_from_alignment(const FuncNode &func, const Node &node, size_t s,
                          const Machine &machine) {
    const double lanes =
        double(lanes_for(node, node.extents.empty() ? 1 : node.extents[0], machine));
    const auto &loads = node.stages[s].loads;
    const bool needed = lanes > 1 && std::any_of(loads.begin(), loads.end(), [&](const auto &load) {
                            return needs_aligned_vectors(load, lanes);
                        });
    return needed && node.is_output && node.mins[0] == 0 && !has_promised_min(func, 0);
}

/// Whether the value of a point, or one that is inlined there, is chosen by a comparison of this variable, as by
/// mux(c, {red, green, blue}).
bool is_chosen_by(const std::string &var, const FuncNode &func, const Graph &graph,
                  const schedules::Schedule &schedule) {
    bool found = false;
    for (const Expr &value : func.stages[0].values)
        ir::each_node(value, [&](const ir::ExprNode &e) {
            const bool compares = e.op == ir::Op::EQ || e.op == ir::Op::NE || e.op == ir::Op::LT ||
                                  e.op == ir::Op::LE || e.op == ir::Op::GT || e.op == ir::Op::GE;
            found |= compares && ir::uses_var(Expr(&e), var);
            const FuncNode *inlined = nullptr;
            if (e.op == ir::Op::Call && e.call_kind == ir::CallKind::Func)
                if (const FuncNode &called = graph[static_cast<FuncId>(e.int_value)];
                    schedule[called.id].compute.inlined() && called.id != func.id)
                    inlined = &called;
            for (size_t d = 0; inlined && !found && d < e.args.size(); d++)
                found = ir::uses_var(e.args[d], var) &&
                        is_chosen_by(inlined->args[d], *inlined, graph, schedule);
            return !found;
        });
    return found;
}

/// Which value a point of an unrolled dimension has is chosen at run time unless the dimension's bounds are known: a version
/// for those of the Buffers at hand.
Expr bounds_of_unrolled(const Plan &plan, const FuncNode &func, const Node &node,
                        const Graph &graph, const schedules::Schedule &schedule) {
    if (plan.unrolled < 0 || plan.stage > 0 || !node.is_output)
        return {};
    const size_t d = static_cast<size_t>(plan.unrolled);
    // (Among few values, the choice takes less than a version takes to compile.)
    if (node.extents[d] <= most_channels || node.mins[d] != 0 || has_promised_min(func, d) ||
        !is_chosen_by(func.args[d], func, graph, schedule))
        return {};
    return ir::make_binary(ir::Op::And, begins_at_0(func, d), has_extent(func, d, node.extents[d]));
}

/// The loop over the vectors of rows that are short, and whose values are chosen by where they are, as by select(x < 64, ..):
/// in a loop of its own, each vector has one of them. Null where rows are long, or end in a part of a vector.
Dim *vectors_of_short_rows(const Plan &plan, const FuncNode &func, const Node &node,
                           StageSchedule &stage, const Graph &graph,
                           const schedules::Schedule &schedule) {
    constexpr int64_t few = 8;
    const auto vectors = std::find_if(stage.dims.begin(), stage.dims.end(), [](const Dim &d) {
        return d.kind != LoopKind::Vectorized && d.kind != LoopKind::Unrolled;
    });
    if (plan.stage > 0 || !node.is_output || vectors == stage.dims.end() || node.mins[0] != 0 ||
        has_promised_min(func, 0) || stage.dims[0].kind != LoopKind::Vectorized ||
        vectors->kind != LoopKind::Serial || !is_chosen_by(func.args[0], func, graph, schedule))
        return nullptr;
    const auto split =
        std::find_if(stage.transforms.begin(), stage.transforms.end(), [&](const auto &t) {
            return t.kind == schedules::Transform::Kind::Split && t.old_name == func.args[0] &&
                   t.outer == vectors->name && t.inner == stage.dims[0].name;
        });
    int64_t lanes = 0;
    if (split == stage.transforms.end() || !ir::as_const_int(split->factor, &lanes) ||
        node.extents[0] % lanes != 0)
        return nullptr;
    const int64_t count = node.extents[0] / lanes;
    const double instructions = node.stages[0].arithmetic.count * double(count * plan.block);
    return count > 1 && count <= few && instructions <= most_unrolled ? &*vectors : nullptr;
}

/// Loops over the channels of an interleaved image whose number is not promised: where it is the same as in the Buffers
/// at hand, a version in which they are unrolled next to the vector, so that whole vectors of memory are stored
/// (lower/interleave_stores.h).
void specialize_for_channels(const Plan &plan, const FuncNode &func, const Node &node,
                             const OutputLoops &names, StageSchedule &stage) {
    const size_t c = static_cast<size_t>(std::max(0, node.channels));
    if (c == 0 || plan.stage > 0 || node.extents[c] < 2 || node.extents[c] > most_channels ||
        names.points[c] != func.args[c] || stage.dims[0].kind != LoopKind::Vectorized)
        return;
    StageSchedule special(stage);
    const auto loop = std::find_if(special.dims.begin(), special.dims.end(),
                                   [&](const Dim &d) { return d.name == func.args[c]; });
    if (loop->kind != LoopKind::Serial)
        return;
    loop->kind = LoopKind::Unrolled;
    std::rotate(special.dims.begin() + 1, loop, loop + 1);
    stage.specializations.push_back({has_extent(func, c, node.extents[c]), std::move(special), ""});
}

}  // namespace

void add_versions(const Plan &plan, const StageGraph &nodes, const Graph &graph,
                  const Machine &machine, const OutputLoops &loops, schedules::Schedule &schedule) {
    const Node &node = nodes.nodes[static_cast<size_t>(plan.output())];
    const FuncNode &func = graph[node.id];
    StageSchedule &stage = schedule[func.id].stages[plan.stage];
    const auto has_members_in = [&](const std::string &loop) {
        return std::any_of(plan.members.begin() + 1, plan.members.end(), [&](int member) {
            const FuncSchedule &f = schedule[nodes.nodes[static_cast<size_t>(member)].id];
            return f.compute.var == loop || f.store.var == loop;
        });
    };
    if (node.channels > 0 && !has_members_in(func.args[static_cast<size_t>(node.channels)]))
        specialize_for_channels(plan, func, node, loops, stage);
    StageSchedule special(stage);
    Expr bounds = bounds_of_unrolled(plan, func, node, graph, schedule);
    const auto require = [&](const Expr &also) {
        bounds = bounds.defined() ? ir::make_binary(ir::Op::And, also, bounds) : also;
    };
    if (gains_from_alignment(func, node, plan.stage, machine)) {
        require(begins_at_0(func, 0));
    } else if (Dim *vectors = vectors_of_short_rows(plan, func, node, special, graph, schedule);
               vectors && !has_members_in(vectors->name)) {
        vectors->kind = LoopKind::Unrolled;
        require(has_extent(func, 0, node.extents[0]));
        require(begins_at_0(func, 0));
    }
    if (bounds.defined())
        stage.specializations.push_back({bounds, std::move(special), ""});
}

}  // namespace Pipe::autoschedule
