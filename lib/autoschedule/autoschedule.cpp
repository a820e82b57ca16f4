#include "autoschedule/autoschedule.h"

#include <algorithm>

#include <fmt/format.h>

#include "autoschedule/apply.h"
#include "autoschedule/dimension_order.h"
#include "autoschedule/gpu/choose_threads.h"
#include "autoschedule/gpu/gpu_apply.h"
#include "autoschedule/operand_copies.h"
#include "autoschedule/prefetch_rows.h"
#include "autoschedule/report.h"
#include "autoschedule/roles.h"
#include "autoschedule/steps.h"
#include "autoschedule/strategies/strategies.h"
#include "autoschedule/unrolling.h"
#include "graph/loops.h"
#include "graph/unroll_updates.h"
#include "ir/program.h"
#include "poly/model.h"
#include "support/clock.h"
#include "support/error.h"
#include "support/text.h"

namespace Pipe::autoschedule {

using graph::FuncNode;
using graph::Graph;
using poly::Range;
using schedules::FuncSchedule;
using schedules::StageSchedule;

namespace {

using support::Clock;
using support::ms_since;

Range range_of(const Sizes::Dim &d) {
    const int64_t extent = d.extent > 0 ? d.extent : assumed_extent;
    return {d.min, d.min + extent - 1};
}

poly::ModelInput model_input(const Graph &graph, const Sizes &sizes) {
    poly::ModelInput input;
    for (size_t i = 0; i < graph.outputs.size(); i++) {
        const size_t dims = graph[graph.outputs[i]].args.size();
        std::vector<Range> box;
        for (size_t d = 0; d < dims; d++) {
            const bool given = i < sizes.outputs.size() && d < sizes.outputs[i].size();
            box.push_back(range_of(given ? sizes.outputs[i][d] : Sizes::Dim()));
        }
        input.outputs.push_back(std::move(box));
    }
    for (const auto &[image, dims] : sizes.images) {
        for (size_t d = 0; d < dims.size(); d++) {
            if (dims[d].extent <= 0)
                continue;
            if (dims[d].stride != 0)
                input.names[ir::stride_name(image, d)] = Range::point(dims[d].stride);
            input.names[ir::min_name(image, d)] = Range::point(dims[d].min);
            input.names[ir::extent_name(image, d)] = Range::point(dims[d].extent);
        }
    }
    for (const auto &[name, value] : sizes.scalars)
        input.names[name] = Range::point(value);
    return input;
}

/// The default loops of the definition, if the caller did not set them.
void add_missing_loops(const FuncNode &func, FuncSchedule &f) {
    f.stages.resize(func.stages.size());
    for (size_t s = 0; s < func.stages.size(); s++)
        if (StageSchedule &stage = f.stages[s]; stage.dims.empty() && stage.transforms.empty())
            stage.dims = graph::initial_loops(func.args, func.stages[s]);
}

/// A Func whose loops were scheduled by the user without a compute level is stored.
void place_fixed(const FuncNode &func, FuncSchedule &f) {
    if (func.is_output || !f.compute.inlined() || (f.touched && !must_be_stored(f)))
        return;
    f.compute.kind = f.store.kind = schedules::LoopLevel::Kind::Root;
}

void note_model(const poly::Model &model, Report &report) {
    if (model.inexact > 0) {
        report.notes.push_back(support::counted(model.inexact - model.exhausted, "coordinate") +
                               " of accesses not affine: bounded by intervals");
    }
    if (model.exhausted > 0) {
        report.notes.push_back(
            fmt::format("the polyhedral quota ran out {} times", model.exhausted));
    }
}

void note_unbounded(const Graph &graph, const poly::Model &model, Report &report) {
    for (const FuncNode &f : graph.funcs) {
        if (model.funcs[static_cast<size_t>(f.id)].bounded())
            continue;
        report.notes.push_back(fmt::format("{}: needed region unknown, extents of {} assumed",
                                           f.name, assumed_extent));
    }
}

/// Adds the forms of short reductions without updates, which are those of another graph.
void add_unrolled_forms(StageGraph &nodes, const Graph &graph, const schedules::Schedule &start,
                        const poly::ModelInput &input, const Machine &machine) {
    const std::vector<FuncId> funcs = unrollable(graph, start);
    if (funcs.empty())
        return;
    Graph unrolled = graph;
    schedules::Schedule schedule = start;
    graph::unroll_updates(unrolled, schedule, funcs);
    StageGraph forms =
        build_stage_graph(unrolled, poly::model(unrolled, input), input.names, schedule);
    if (machine.gpu)
        choose_threads(forms, unrolled, schedule, machine);
    add_unrolled(nodes, forms, funcs);
}

/// A form of the pipeline, and what was found for it.
struct Searched {
    Graph graph;
    schedules::Schedule schedule;
    SearchResult found;
    Report report;
};

Searched search_form(Graph graph, schedules::Schedule schedule, const Sizes &sizes,
                     const Machine &machine, const AutoscheduleOptions &options) {
    Searched result{std::move(graph), std::move(schedule), {}, {}};
    result.report.machine = machine;
    if (!machine.gpu)
        result.report.strategy = options.strategy;
    const StageGraph nodes =
        stages_of(result.graph, result.schedule, sizes, machine, result.report);
    const auto begin = Clock::now();
    result.found = search_by_strategy(nodes, machine, options);
    result.report.search_ms = ms_since(begin);
    return result;
}

/// The pipeline as it is, or with copies of operands, whichever is predicted to take less.
Searched search(const Graph &graph, const schedules::Schedule &schedule, const Sizes &sizes,
                const Machine &machine, const AutoscheduleOptions &options) {
    Searched best = search_form(graph, schedule, sizes, machine, options);
    if (machine.gpu || options.strategy != AutoscheduleOptions::Strategy::Best)
        return best;
    schedules::Schedule with_copies = schedule;
    auto copied = with_operand_copies(graph, with_copies);
    if (!copied)
        return best;
    Searched other =
        search_form(std::move(*copied), std::move(with_copies), sizes, machine, options);
    const double ms = best.report.search_ms + other.report.search_ms;
    Searched &result = other.found.cost < best.found.cost ? other : best;
    result.report.search_ms = ms;
    return std::move(result);
}

Result run(const Graph &given, schedules::Schedule start, Sizes sizes, const Machine &machine,
           const AutoscheduleOptions &options) {
    const bool has_lanes = !machine.gpu && options.strategy == AutoscheduleOptions::Strategy::Best;
    const Graph ordered = with_ordered_dimensions(given, start, has_lanes ? &sizes : nullptr);
    Searched searched = search(ordered, start, sizes, machine, options);
    const Graph &graph = searched.graph;
    const SearchResult &found = searched.found;
    Result result;
    result.schedule = std::move(searched.schedule);
    Report &report = result.report = std::move(searched.report);
    report.plans = found.plans;
    report.cost = found.cost;
    report.groups_evaluated = found.evaluated;
    report.complete = found.complete;
    result.graph = write_plans(found, graph, machine, result.schedule);
    for (const Node &node : found.graph.nodes) {
        if (node.inlined)
            report.inlined.push_back(node.name);
        if (node.role == Role::Fixed)
            report.kept.push_back(node.name);
        if (node.is_unrolled)
            report.unrolled.push_back(node.name);
    }
    for (const FuncNode &func : result.graph.funcs)
        if (!func.packs.empty())
            report.packed.push_back(func.made_by);
    for (const Plan &plan : report.plans)
        report.figures.push_back(figure_of(plan, found.graph, graph));
    report.text = report_text(report, found.graph, graph);
    restore_dimensions(given, result.graph, result.schedule);
    return result;
}

}  // namespace

schedules::Schedule with_loops(const Graph &graph, const schedules::Schedule &user) {
    schedules::Schedule start = user;
    start.funcs.resize(graph.funcs.size());
    for (const FuncNode &func : graph.funcs)
        add_missing_loops(func, start[func.id]);
    complete_levels(graph, start);
    return start;
}

StageGraph stages_of(const Graph &graph, const schedules::Schedule &start, const Sizes &sizes,
                     const Machine &machine, Report &report) {
    const auto begin = Clock::now();
    const poly::ModelInput input = model_input(graph, sizes);
    const poly::Model model = poly::model(graph, input);
    note_model(model, report);
    note_unbounded(graph, model, report);
    StageGraph nodes = build_stage_graph(graph, model, input.names, start);
    if (machine.gpu)
        choose_threads(nodes, graph, start, machine);
    add_unrolled_forms(nodes, graph, start, input, machine);
    report.model_ms = ms_since(begin);
    return nodes;
}

Graph write_plans(const SearchResult &found, const Graph &given, const Machine &machine,
                  schedules::Schedule &schedule) {
    Graph graph = given;
    graph::unroll_updates(graph, schedule, unrolled_funcs(found.graph));
    std::vector<graph::Packing> packings;
    const std::vector<bool> placed = placed_by_readers(graph, schedule);
    for (const Plan &plan : found.plans) {
        if (plan.threads.empty())
            apply(plan, found.graph, graph, machine, schedule, packings);
        else
            apply_kernel(plan, found.graph, graph, *machine.gpu, schedule);
    }
    for (const Node &node : found.graph.nodes)
        if (node.role == Role::Fixed && !placed[static_cast<size_t>(node.id)])
            place_fixed(graph[node.id], schedule[node.id]);
    graph::pack(graph, schedule, packings);
    drop_unread_prefetches(graph, schedule);
    return graph;
}

Result schedule(const Graph &graph, const schedules::Schedule &user, const Sizes &sizes,
                const Machine &machine, const AutoscheduleOptions &options) {
    return run(graph, with_loops(graph, user), sizes, machine, options);
}

schedules::Schedule at_root(const Graph &graph, const schedules::Schedule &user) {
    schedules::Schedule result = with_loops(graph, user);
    const std::vector<bool> placed = placed_by_readers(graph, result);
    for (const FuncNode &func : graph.funcs) {
        FuncSchedule &f = result[func.id];
        if (placed[static_cast<size_t>(func.id)])
            continue;
        place_fixed(func, f);
        if (!f.touched)
            f.compute.kind = f.store.kind = schedules::LoopLevel::Kind::Root;
        StageSchedule &stage = f.stages[0];
        const bool free = !stage.touched && f.compute.root();
        if (free && stage.dims.size() > 1)
            stage.dims.back().kind = LoopKind::Parallel;
    }
    return result;
}

}  // namespace Pipe::autoschedule
