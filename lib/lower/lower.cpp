#include "lower/lower.h"

#include "ir/cse.h"
#include "ir/simplify.h"
#include "ir/verify.h"
#include "lower/build.h"
#include "lower/checks.h"
#include "lower/flatten.h"
#include "lower/partition_loops.h"
#include "lower/trace.h"
#include "lower/unroll_loops.h"
#include "lower/vectorize_loops.h"
#include "region/region_map.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// What the passes may look at besides the loops.
struct Context {
    const graph::Graph &graph;
    const Schedule &schedule;
    const LowerOptions &options;
};

struct Pass {
    const char *name;
    Stmt (*run)(const Stmt &, const Context &);
};

/// What was promised of an input's shape is known in the whole body (shape_checks() come first).
Stmt with_promises(const graph::Graph &graph, Stmt body) {
    for (const graph::Image &image : graph.images)
        for (size_t d = 0; d < image.constraints.size(); d++) {
            const graph::Image::Constraint &c = image.constraints[d];
            std::string dim = "." + std::to_string(d);
            if (c.min.defined()) body = make_let(image.name + ".min" + dim, c.min, body);
            if (c.extent.defined()) body = make_let(image.name + ".extent" + dim, c.extent, body);
            if (c.stride.defined())
                body = make_let(image.name + ".stride" + dim, make_cast(Int(64), c.stride), body);
        }
    return body;
}

Stmt build_loops(const Stmt &, const Context &c) {
    region::LoopTree tree(c.graph, c.schedule);
    region::RegionMap regions(tree, c.options.any_size);
    Stmt loops = build(tree, regions, c.options.any_size, region_checks(regions));
    return make_block({shape_checks(regions, c.options.dense), with_promises(c.graph, loops)});
}

constexpr auto simplify_pass = [](const Stmt &s, const Context &) { return simplify(s); };

constexpr Pass passes[] = {
    {"build", build_loops},
    {"trace",
     [](const Stmt &s, const Context &c) {
         return trace(s, c.graph, c.schedule, c.options.name, c.options.trace_pipeline);
     }},
    {"flatten",
     [](const Stmt &s, const Context &c) { return flatten(s, c.graph, c.schedule, c.options.dense); }},
    {"simplify", simplify_pass},
    {"unroll", [](const Stmt &s, const Context &) { return unroll_loops(s); }},
    {"vectorize", [](const Stmt &s, const Context &) { return vectorize_loops(s); }},
    {"simplify-vectors", simplify_pass},
    {"partition", [](const Stmt &s, const Context &) { return partition_loops(s); }},
    {"simplify-partitions", simplify_pass},
    {"cse", [](const Stmt &s, const Context &) { return cse(s); }},
};

void verify_after(const Pass &pass, const Stmt &s, const Context &context) {
    if (std::string(pass.name) == "build" || std::string(pass.name) == "trace") {
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
        s = pass.run(s, context);
        if (!s.defined()) s = make_evaluate(make_int(Int(32), 0));
        if (context.options.verify) verify_after(pass, s, context);
        if (context.options.after_pass) context.options.after_pass(pass.name, s);
        if (context.options.stop_after == pass.name) break;
    }
    return s;
}

/// specialize(): the whole pipeline once per condition, and once for the rest.
Stmt specialized(const graph::Graph &graph, const Schedule &schedule, const LowerOptions &options) {
    for (size_t f = 0; f < schedule.funcs.size(); f++) {
        if (schedule.funcs[f].specializations.empty()) continue;
        Schedule special = schedule, rest = schedule;
        schedule::Specialization first = schedule.funcs[f].specializations.front();
        special.funcs[f].specializations.clear();
        special.funcs[f].stages = first.stages;
        auto &remaining = rest.funcs[f].specializations;
        remaining.erase(remaining.begin());
        return simplify(make_if(first.condition, specialized(graph, special, options), specialized(graph, rest, options)));
    }
    return run_passes({graph, schedule, options});
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
    for (const Pass &pass : passes) names.push_back(pass.name);
    return names;
}

Program lower(const graph::Graph &graph, const Schedule &schedule, const Target &, const LowerOptions &options) {
    return {options.name, arguments(graph), specialized(graph, schedule, options)};
}

}  // namespace Pipe::lower
