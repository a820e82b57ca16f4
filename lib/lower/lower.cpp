#include "lower/lower.h"

#include "ir/cse.h"
#include "ir/fold.h"
#include "ir/int32.h"
#include "ir/intrinsics.h"
#include "ir/simplify.h"
#include "ir/verify.h"
#include "ir/visit.h"
#include "lower/assume.h"
#include "lower/build.h"
#include "lower/checks.h"
#include "lower/flatten.h"
#include "lower/fork.h"
#include "lower/gpu/barriers.h"
#include "lower/gpu/device_uses.h"
#include "lower/gpu/kernels.h"
#include "lower/gpu/shared_memory.h"
#include "lower/gpu/threads.h"
#include "lower/gpu/unused_reads.h"
#include "lower/guard_loops.h"
#include "lower/hoist_calls.h"
#include "lower/in_place.h"
#include "lower/interleave_stores.h"
#include "lower/lifetimes.h"
#include "lower/partition_loops.h"
#include "lower/prefix_loops.h"
#include "lower/private_accumulators.h"
#include "lower/share_strided_loads.h"
#include "lower/skip_stages.h"
#include "lower/trace.h"
#include "lower/unroll_loops.h"
#include "lower/vectorize_loops.h"
#include "lower/whole_blocks.h"
#include "lower/widen_floats.h"
#include "region/plan_print.h"
#include "region/plan_verify.h"
#include "schedule/specialize.h"
#include "support/clock.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// Variables that have one value where the conditions of a specialization hold.
using KnownValues = std::vector<std::pair<std::string, Expr>>;

/// What the passes may look at besides the loops.
struct Context {
    const graph::Graph &graph;
    const schedules::Schedule &schedule;
    const LowerOptions &options;
    const KnownValues &known;
    const Target &target;
};

/// What the loops after a pass may contain.
enum class Form {
    Multidimensional,  ///< Provide, Realize, Call Func and Image: storage has coordinates
    Flat,              ///< Store, Allocate, Load: storage is flat memory
};

struct Pass {
    const char *name;
    Stmt (*run)(const Stmt &, const Context &);
    Form result = Form::Flat;
};

Stmt with_promise(const std::string &buffer, const graph::BufferPromise &promise, Stmt body) {
    for (size_t d = 0; d < promise.dims.size(); d++) {
        const graph::ShapePromise &p = promise.dims[d];
        std::string dim = "." + std::to_string(d);
        if (p.min.defined())
            body = make_let(buffer + ".min" + dim, p.min, body);
        if (p.extent.defined())
            body = make_let(buffer + ".extent" + dim, p.extent, body);
        if (p.stride.defined())
            body = make_let(buffer + ".stride" + dim, make_cast(Int(64), p.stride), body);
    }
    return body;
}

/// What was promised of a buffer's shape is known in the whole body (shape_checks() come first).
Stmt with_promises(const graph::Graph &graph, Stmt body) {
    for (const graph::Image &image : graph.images)
        body = with_promise(image.name, image.promise, body);
    for (FuncId id : graph.outputs)
        for (size_t i = 0; i < graph[id].output_promises.size(); i++)
            body =
                with_promise(graph::buffer_name(graph[id], i), graph[id].output_promises[i], body);
    return body;
}

Stmt build_loops(const Stmt &, const Context &c) {
    region::LoopTree tree(c.graph, c.schedule);
    const region::RegionPlan plan = region::plan_regions(tree, c.options.any_size);
    if (c.options.after_plan)
        c.options.after_plan(region::to_string(plan));
    if (c.options.verify)
        region::verify(plan);
    Stmt loops = build(plan, c.options.any_size, region_checks(plan));
    for (const auto &[name, value] : c.known)
        loops = make_let(name, value, loops);
    return make_block({shape_checks(plan, c.options.strides), with_promises(c.graph, loops)});
}

/// Outputs whose pure definition stores every element, with that stage.
std::set<std::pair<std::string, std::string>> overwritten_outputs(const graph::Graph &graph) {
    std::set<std::pair<std::string, std::string>> result;
    for (FuncId id : graph.outputs)
        for (size_t i = 0; i < graph[id].types.size(); i++) {
            const auto &values = graph[id].stages[0].values;
            const bool undefined = i < values.size() && contains(values[i], [](const ExprNode &n) {
                                       return is_intrinsic(n, intrinsic::undef);
                                   });
            if (!undefined)
                result.emplace(graph::buffer_name(graph[id], i), region::stage_name(graph[id], 0));
        }
    return result;
}

/// Buffers that the user may have given memory on a device.
std::set<std::string> device_arguments(const Context &c) {
    std::set<std::string> names;
    for (const Argument &a : arguments(c.graph))
        if (c.target.has_cuda() && a.kind != Argument::Kind::Scalar)
            names.insert(a.name);
    return names;
}

constexpr auto simplify_pass = [](const Stmt &s, const Context &) { return simplify(s); };

constexpr Pass passes[] = {
    {"build", build_loops, Form::Multidimensional},
    {"skip",
     [](const Stmt &s, const Context &c) {
         return guard_unused_reads(skip_stages(s, c.graph, c.schedule));
     },
     Form::Multidimensional},
    {"fork", [](const Stmt &s, const Context &c) { return fork_tasks(s, c.graph); },
     Form::Multidimensional},
    {"trace",
     [](const Stmt &s, const Context &c) {
         return trace(s, c.graph, c.schedule, c.options.name, c.options.trace_pipeline);
     },
     Form::Multidimensional},
    {"flatten",
     [](const Stmt &s, const Context &c) {
         return flatten(s, c.graph, c.schedule, c.target, c.options.strides, c.options.in_place);
     }},
    {"simplify", simplify_pass},
    {"guard", [](const Stmt &s, const Context &) { return guard_loops(s); }},
    {"blocks", [](const Stmt &s, const Context &c) { return whole_blocks(s, &c.graph); }},
    {"unroll", [](const Stmt &s, const Context &) { return unroll_loops(s); }},
    {"vectorize", [](const Stmt &s, const Context &c) { return vectorize_loops(s, &c.target); }},
    {"simplify-vectors", simplify_pass},
    {"partition", [](const Stmt &s, const Context &) { return partition_loops(s); }},
    {"simplify-partitions", simplify_pass},
    {"prefixes", [](const Stmt &s, const Context &c) { return prefix_loops(s, c.target); }},
    {"interleave", [](const Stmt &s, const Context &) { return interleave_stores(s); }},
    {"share-loads", [](const Stmt &s, const Context &) { return share_strided_loads(s); }},
    {"hoist-calls", [](const Stmt &s, const Context &) { return hoist_calls(s); }},
    {"widen-floats", [](const Stmt &s, const Context &) { return widen_floats(s); }},
    {"cse", [](const Stmt &s, const Context &) { return cse(s); }},
    {"kernels", [](const Stmt &s, const Context &) { return make_kernels(s); }},
    {"arrays", [](const Stmt &s, const Context &c) { return place_arrays(s, c.target); }},
    {"barriers", [](const Stmt &s, const Context &) { return insert_barriers(s); }},
    {"threads", [](const Stmt &s, const Context &) { return map_threads(s); }},
    {"device-uses",
     [](const Stmt &s, const Context &c) {
         return insert_device_uses(s, overwritten_outputs(c.graph), device_arguments(c));
     }},
    {"lifetimes", [](const Stmt &s, const Context &) { return end_lifetimes(s); }},
};

void verify_after(const Pass &pass, const Stmt &s, const Context &context) {
    if (pass.result == Form::Multidimensional) {
        VerifyOptions before_flatten;
        before_flatten.any_free_variable = before_flatten.any_buffer = true;
        verify(s, before_flatten);
    } else {
        verify(Program{pass.name, arguments(context.graph), s});
    }
}

Stmt run_passes(const Context &context) {
    Stmt s;
    for (const Pass &pass : passes) {
        const auto start = support::Clock::now();
        s = pass.run(s, context);
        if (context.options.timed)
            context.options.timed(pass.name, support::ms_since(start));
        if (!s.defined())
            s = make_evaluate(int32(0));
        if (context.options.after_pass)
            context.options.after_pass(pass.name, s);  // shows what verify refuses, too
        if (context.options.verify)
            verify_after(pass, s, context);
        if (context.options.stop_after == pass.name)
            break;
    }
    return s;
}

/// Adds the values that the condition says: `v == 3`, `b`, `!b`, and conjunctions of them. (Floats that
/// compare equal may be different.)
void learn(const Expr &condition, bool holds, KnownValues &known) {
    const ExprNode &e = *condition.get();
    if (e.op == Op::Variable)
        known.emplace_back(e.name, make_const(Bool(), holds ? 1 : 0));
    if (e.op == Op::Not)
        learn(e.args[0], !holds, known);
    if (e.op == (holds ? Op::And : Op::Or))
        for (const Expr &part : e.args)
            learn(part, holds, known);
    if (e.op != (holds ? Op::EQ : Op::NE))
        return;
    for (size_t side : {size_t(0), size_t(1)})
        if (e.args[side]->op == Op::Variable && is_constant(e.args[1 - side]) &&
            !e.args[side].type().is_float())
            known.emplace_back(e.args[side]->name, e.args[1 - side]);
}

KnownValues with(KnownValues known, const Expr &condition, bool holds) {
    learn(condition, holds, known);
    return known;
}

/// specialize(): the whole pipeline once per condition, and once for the rest.
Stmt specialized(const graph::Graph &graph, const schedules::Schedule &schedule,
                 const LowerOptions &options, const Target &target, const KnownValues &known = {}) {
    std::optional<schedules::Branch> branch = schedules::branch(schedule);
    if (!branch)
        return run_passes({graph, schedule, options, known, target});
    if (!branch->condition.defined()) {
        std::string message =
            "specialize_fail of " + located_name(graph[branch->func], 0) + ": " + branch->failure;
        return make_assert(make_const(Bool(), 0), static_cast<int>(Failure::BadConstraint),
                           {make_string(message)});
    }
    const Expr &condition = branch->condition;
    Stmt holds = specialized(assume(graph, condition, true), branch->holds, options, target,
                             with(known, condition, true));
    Stmt otherwise = specialized(assume(graph, condition, false), branch->otherwise, options,
                                 target, with(known, condition, false));
    return simplify(make_if(condition, holds, otherwise));
}

}  // namespace

std::vector<Argument> arguments(const graph::Graph &graph) {
    std::vector<Argument> args;
    for (const graph::Image &image : graph.images)
        args.push_back({Argument::Kind::InputBuffer, image.name, image.type, image.dimensions});
    for (const graph::Scalar &scalar : graph.scalars)
        args.push_back({Argument::Kind::Scalar, scalar.name, scalar.type, 0});
    for (FuncId id : graph.outputs) {
        const graph::FuncNode &f = graph[id];
        for (size_t i = 0; i < f.types.size(); i++)
            args.push_back({Argument::Kind::OutputBuffer, graph::buffer_name(f, i), f.types[i],
                            static_cast<int>(f.args.size())});
    }
    return args;
}

std::vector<std::string> pass_names() {
    std::vector<std::string> names;
    for (const Pass &pass : passes)
        names.push_back(pass.name);
    return names;
}

Program lower(const graph::Graph &graph, const schedules::Schedule &schedule, const Target &target,
              const LowerOptions &options) {
    auto [whole, loops] = private_accumulators(
        graph, each_point_once(graph, schedule, options.in_place), options.shared_loops);
    Program program{options.name, arguments(whole), specialized(whole, loops, options, target)};
    program.in_place = options.in_place;
    for (const graph::FuncNode &f : graph.funcs) {
        if (schedule[f.id].no_profiling)
            program.unprofiled.insert(f.name);
        for (size_t i = 0; i < f.types.size(); i++) {
            if (schedule[f.id].nontemporal_stores)
                program.nontemporal_stores.insert(graph::buffer_name(f, i));
            if (schedule[f.id].nontemporal_loads)
                program.nontemporal_loads.insert(graph::buffer_name(f, i));
        }
    }
    return program;
}

}  // namespace Pipe::lower
