#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "ir/print.h"
#include "language/collect.h"
#include "language/freeze.h"

using namespace Pipe;

namespace {

graph::Graph inlined(const std::vector<Func> &outputs) {
    language::Frozen f = language::freeze(outputs);
    graph::Graph g = graph::inline_funcs(f.graph, f.schedule);
    graph::verify(g);
    return g;
}

std::string value(const graph::Graph &g) {
    return ir::to_string(g[g.outputs[0]].stages[0].values[0]);
}

}  // namespace

TEST_CASE("a pure Func is substituted", "[inline]") {
    Var x("x"), y("y"), u("u"), v("v");
    Func f("f"), g("g");
    f(u, v) = u * 10 + v;
    g(x, y) = f(y, x - 1) + f(x, 2);
    graph::Graph graph = inlined({g});
    CHECK(value(graph) == "y * 10 + (x - 1) + (x * 10 + 2)");
    CHECK(graph.funcs[0].consumers.empty());
    CHECK(graph.funcs[1].producers.empty());
}

TEST_CASE("what is scheduled, has updates or is an output stays", "[inline]") {
    Var x("x");
    Func root("root"), updated("updated"), output("output"), last("last");
    root(x) = x;
    root.compute_root();
    updated(x) = x;
    updated(0) = 3;
    output(x) = x;
    last(x) = root(x) + updated(x) + output(x);
    CHECK(value(inlined({output, last})) == "x");
    graph::Graph graph = inlined({last, output});
    CHECK(value(graph) == "root(x) + updated(x) + output(x)");
}

TEST_CASE("values of a Tuple, update definitions and conditions", "[inline]") {
    Var x("x");
    RDom r(0, 8, "r");
    Func f("f"), g("g");
    f(x) = Tuple(x + 1, x * 2);
    r.where(f(r)[0] > 3);
    g(x) = 0;
    g(f(r)[1]) += f(r)[0];
    graph::Graph graph = inlined({g});
    const graph::Stage &update = graph[graph.outputs[0]].stages[1];
    CHECK(ir::to_string(update.args[0]) == "r$x * 2");
    CHECK(ir::to_string(update.predicate) == "r$x + 1 > 3");
}

TEST_CASE("a chain of stencils stays small", "[inline]") {
    Var x("x");
    ImageParam in(Int(32), 1, "in");
    std::vector<Func> f(30);
    f[0](x) = in(x);
    for (size_t i = 1; i < f.size(); i++)
        f[i](x) = f[i - 1](x - 1) + f[i - 1](x) + f[i - 1](x + 1);
    graph::Graph graph = inlined({f.back()});
    size_t loads = 0;
    graph::Walk()(graph[graph.outputs[0]].stages[0].values[0], [&](const ir::ExprNode &node) {
        loads += node.op == ir::Op::Call && node.call_kind == ir::CallKind::Image;
    });
    CHECK(loads == 59);  // in(x - 29) ... in(x + 29), each once
}
