#include "lower/lower.h"

#include <tuple>

#include "ir/cse.h"
#include "ir/int32.h"
#include "ir/intrinsics.h"
#include "ir/simplify.h"
#include "ir/verify.h"
#include "ir/visit.h"
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
#include "lower/narrow_integers.h"
#include "lower/partition_loops.h"
#include "lower/prefix_loops.h"
#include "lower/private_accumulators.h"
#include "lower/share_strided_loads.h"
#include "lower/skip_stages.h"
#include "lower/steady_state.h"
#include "lower/trace.h"
#include "lower/unroll_loops.h"
#include "lower/vectorize_loops.h"
#include "lower/versions.h"
#include "lower/whole_blocks.h"
#include "lower/whole_sums.h"
#include "lower/widen_floats.h"
#include "region/plan_print.h"
#include "region/plan_verify.h"
#include "support/clock.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// What the passes may look at besides the version at hand.
struct Context {
    const LowerOptions &options;
    const Target &target;
};

/// What a pass makes.
enum class Form {
    Schedule,          ///< a graph and a schedule, without loops
    Multidimensional,  ///< Provide, Realize, Call Func and Image: storage has coordinates
    Flat,              ///< Store, Allocate, Load: storage is flat memory
};

using Versions = std::vector<Version>;

struct Pass {
    const char *name;
    Versions (*run)(Versions, const Context &);
    Form result = Form::Flat;
};

/// A pass before there are loops: f(version, context) changes the version.
template <auto f> Versions change(Versions versions, const Context &c) {
    for (Version &v : versions)
        f(v, c);
    return versions;
}

/// A pass that rewrites the loops of each version by themselves: Stmt f(version, context).
template <auto f> Versions rewrite(Versions versions, const Context &c) {
    for (Version &v : versions)
        v.loops = f(v, c);
    return versions;
}

/// One that looks at the loops only: Stmt f(loops).
template <Stmt (*f)(const Stmt &)> Versions rewrite_loops(Versions versions, const Context &c) {
    return rewrite<[](const Version &v, const Context &) { return f(v.loops); }>(
        std::move(versions), c);
}

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

constexpr auto guard_in_place = [](Version &v, const Context &c) {
    v.schedule = each_point_once(v.graph, v.schedule, c.options.in_place);
};
constexpr auto add_accumulators = [](Version &v, const Context &c) {
    std::tie(v.graph, v.schedule) =
        private_accumulators(v.graph, v.schedule, c.options.shared_loops);
};

Versions specialize(Versions versions, const Context &) {
    return specialized(std::move(versions.at(0)));
}

Stmt build_loops(const Version &v, const Context &c) {
    if (!v.failure.empty())
        return make_assert(make_const(Bool(), 0), static_cast<int>(Failure::BadConstraint),
                           {make_string(v.failure)});
    region::LoopTree tree(v.graph, v.schedule);
    const region::RegionPlan plan = region::plan_regions(tree, c.options.any_size);
    if (c.options.after_plan)
        c.options.after_plan(region::to_string(plan));
    if (c.options.verify)
        region::verify(plan);
    Stmt loops = build(plan, region_checks(plan));
    for (const auto &[name, value] : v.known)
        loops = make_let(name, value, loops);
    return make_block({shape_checks(plan, c.options.strides), with_promises(v.graph, loops)});
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
std::set<std::string> device_arguments(const graph::Graph &graph, const Target &target) {
    std::set<std::string> names;
    for (const Argument &a : arguments(graph))
        if (target.has_cuda() && a.kind != Argument::Kind::Scalar)
            names.insert(a.name);
    return names;
}

Stmt simplify_all(const Stmt &s) {
    return simplify(s);
}

constexpr auto blocks = [](const Version &v, const Context &) {
    return whole_blocks(v.loops, &v.graph);
};
constexpr auto sums = [](const Version &v, const Context &c) {
    return whole_sums(v.loops, &c.target);
};
constexpr auto kernels = [](const Version &v, const Context &) {
    std::set<std::string> parts;
    for (const graph::FuncNode &f : v.graph.funcs)
        if (f.holds_parts)
            parts.insert(f.name);
    return make_kernels(v.loops, parts);
};
constexpr auto skip = [](const Version &v, const Context &) {
    return guard_unused_reads(skip_stages(v.loops, v.graph, v.schedule));
};
constexpr auto fork = [](const Version &v, const Context &) {
    return fork_tasks(v.loops, v.graph);
};
constexpr auto trace_accesses = [](const Version &v, const Context &c) {
    return trace(v.loops, v.graph, v.schedule, c.options.name, c.options.trace_pipeline);
};
constexpr auto flatten_storage = [](const Version &v, const Context &c) {
    return flatten(v.loops, v.graph, v.schedule, c.target, c.options.strides, c.options.in_place);
};
constexpr auto vectorize = [](const Version &v, const Context &c) {
    return vectorize_loops(v.loops, &c.target);
};
constexpr auto prefixes = [](const Version &v, const Context &c) {
    return prefix_loops(v.loops, c.target);
};
constexpr auto arrays = [](const Version &v, const Context &c) {
    return place_arrays(v.loops, c.target);
};
constexpr auto device_uses = [](const Version &v, const Context &c) {
    return insert_device_uses(v.loops, overwritten_outputs(v.graph),
                              device_arguments(v.graph, c.target));
};

constexpr Pass passes[] = {
    {"in-place", change<guard_in_place>, Form::Schedule},
    {"private-accumulators", change<add_accumulators>, Form::Schedule},
    {"specialize", specialize, Form::Schedule},
    {"build", rewrite<build_loops>, Form::Multidimensional},
    {"skip", rewrite<skip>, Form::Multidimensional},
    {"fork", rewrite<fork>, Form::Multidimensional},
    {"trace", rewrite<trace_accesses>, Form::Multidimensional},
    {"flatten", rewrite<flatten_storage>},
    {"simplify", rewrite_loops<simplify_all>},
    {"ranges", rewrite_loops<decide_by_ranges>},
    {"sums", rewrite<sums>},
    {"guard", rewrite_loops<guard_loops>},
    {"blocks", rewrite<blocks>},
    {"unroll", rewrite_loops<unroll_loops>},
    {"vectorize", rewrite<vectorize>},
    {"simplify-vectors", rewrite_loops<simplify_all>},
    {"partition", rewrite_loops<partition_loops>},
    {"simplify-partitions", rewrite_loops<simplify_all>},
    {"prefixes", rewrite<prefixes>},
    {"interleave", rewrite_loops<interleave_stores>},
    {"share-loads", rewrite_loops<share_strided_loads>},
    {"hoist-calls", rewrite_loops<hoist_calls>},
    {"widen-floats", rewrite_loops<widen_floats>},
    {"narrow-integers", rewrite_loops<narrow_integers>},
    {"cse", rewrite_loops<cse>},
    {"kernels", rewrite<kernels>},
    {"arrays", rewrite<arrays>},
    {"barriers", rewrite_loops<insert_barriers>},
    {"threads", rewrite_loops<map_threads>},
    {"device-uses", rewrite<device_uses>},
    {"lifetimes", rewrite_loops<end_lifetimes>},
};

void verify_after(const Pass &pass, const Version &v) {
    if (pass.result == Form::Multidimensional) {
        VerifyOptions before_flatten;
        before_flatten.any_free_variable = before_flatten.any_buffer = true;
        verify(v.loops, before_flatten);
    } else {
        verify(Program{pass.name, arguments(v.graph), v.loops});
    }
}

void check_loops_after(const Pass &pass, Version &v, const LowerOptions &options) {
    if (!v.loops.defined())
        v.loops = make_evaluate(int32(0));
    if (options.after_pass)
        options.after_pass(pass.name, v.loops);  // shows what verify refuses, too
    if (options.verify)
        verify_after(pass, v);
}

Versions run_passes(Version pipeline, const Context &context) {
    Versions versions{std::move(pipeline)};
    for (const Pass &pass : passes) {
        const auto start = support::Clock::now();
        versions = pass.run(std::move(versions), context);
        if (context.options.timed)
            context.options.timed(pass.name, support::ms_since(start));
        if (pass.result != Form::Schedule)
            for (Version &v : versions)
                check_loops_after(pass, v, context.options);
        if (context.options.stop_after == pass.name)
            break;
    }
    return versions;
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
    Program program{options.name, arguments(graph), {}};
    program.body = joined(run_passes({graph, schedule}, {options, target}));
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
