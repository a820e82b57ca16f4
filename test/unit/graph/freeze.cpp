// Freezing: text out.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>

#include <pipe/pipe.h>

#include "language/freeze.h"

using namespace Pipe;
using language::freeze;

namespace {

std::string text(const std::vector<Func> &outputs) {
    graph::Graph g = freeze(outputs).graph;
    graph::verify(g);
    return graph::to_string(g);
}

}  // namespace

TEST_CASE("a stencil", "[freeze]") {
    Var x("x"), y("y");
    ImageParam in(UInt(16), 2, "in");
    Func bx("bx"), by("by");
    bx(x, y) = (in(x, y) + in(x + 1, y)) / 2;
    by(x, y) = bx(x, y) + bx(x, y + 1);
    CHECK(text({by}) == "image in: 2 dimensions of uint16\n"
                        "func bx: uint16\n"
                        "  bx(x, y) = (in(x, y) + in(x + 1, y)) / uint16(2)\n"
                        "output by: uint16\n"
                        "  by(x, y) = bx(x, y) + bx(x, y + 1)\n");
    graph::Graph g = freeze({by}).graph;
    CHECK(g.funcs[0].consumers == std::vector{g.outputs[0]});
    CHECK(g.funcs[1].producers == std::vector{g.funcs[0].id});
    CHECK(g.funcs[0].where.line > 0);
}

TEST_CASE("names that nobody chose, or that are taken", "[freeze]") {
    Var v;
    auto build = [&] {
        Var w("w");
        Func f, g, blur("blur"), blur2("blur");
        Param<int> p, q("p"), param(v.name());
        f(v, w) = v + w + p + q;
        g(v, w) = f(v, w) * param;
        blur(v, w) = g(v, w);
        blur2(v, w) = blur(v, w);
        return text({blur2});
    };
    std::string first = build(), v0 = v.name();
    CHECK(first == build());  // not of what else the process built
    CHECK(first == "scalar p: int32\n"
                   "scalar p$1: int32\n"
                   "scalar " +
                       v0 +
                       "$1: int32\n"
                       "func f: int32\n  f(" +
                       v0 + ", w) = " + v0 +
                       " + w + p + p$1\n"
                       "func f$1: int32\n  f$1(" +
                       v0 + ", w) = f(" + v0 + ", w) * " + v0 +
                       "$1\n"
                       "func blur: int32\n  blur(" +
                       v0 + ", w) = f$1(" + v0 +
                       ", w)\n"
                       "output blur$1: int32\n  blur$1(" +
                       v0 + ", w) = blur(" + v0 + ", w)\n");
}

TEST_CASE("inline reductions are named after the Func that has them", "[freeze]") {
    Var x("x"), y("y");
    RDom r(0, 4), s(0, 4);
    Func mean("mean"), out("out"), other("out_sum");
    mean(x, y) = sum(r, x * r) / 4 + sum(r, y + r) + maximum(r, sum(s, r * s));
    other(x, y) = x;
    out(x, y) = mean(x, y) + other(x, y) + sum(r, x + y + r) + sum(r, x + r, "named");
    std::vector<std::string> names;
    for (const graph::FuncNode &f : freeze({out}).graph.funcs)
        names.push_back(f.name);
    std::sort(names.begin(), names.end());
    CHECK(names == std::vector<std::string>{"mean", "mean_maximum", "mean_maximum_sum", "mean_sum",
                                            "mean_sum$1", "named", "out", "out_sum", "out_sum$1"});
}

TEST_CASE("updates and RDoms", "[freeze]") {
    Var x("x");
    Func f("f");
    ImageParam in(Int(32), 1, "in");
    RDom r(0, in.width(), "r"), other(1, 9, "r");
    r.where(in(r) > 0);
    f(x) = 0;
    f(in(r)) += r.x;
    f(other) = f(other - 1);
    CHECK(text({f}) ==
          "image in: 1 dimensions of int32\n"
          "output f: int32\n"
          "  f(x) = 0\n"
          "  f(in(r$x)) = f(in(r$x)) + r$x  r$x in [0, +in.extent.0)  where in(r$x) > 0\n"
          "  f(r$x$1) = f(r$x$1 - 1)  r$x$1 in [1, +9)\n");
}

TEST_CASE("one Buffer is one image", "[freeze]") {
    Var x("x");
    Buffer<float> data(10, "data"), same = data, equal = data.copy();
    Func f("f");
    f(x) = data(x) + same(x + 1) + equal(x);
    graph::Graph g = freeze({f}).graph;
    REQUIRE(g.images.size() == 2);
    CHECK(g.images[0].name == "data");
    CHECK(g.images[0].bound.same_as(data));
}

TEST_CASE("levels are resolved", "[freeze]") {
    Var x, y("y"), yo, yi;
    RDom r(0, 5, "r");
    Func f("f"), g("g");
    f(x, y) = x + y;
    g(x, y) = 0;
    g(x, y) += f(x + r, y);
    g.update().split(y, yo, yi, 8);
    f.compute_at(g, yi).store_at(g, yo);
    schedules::Schedule s = freeze({g}).schedule;
    const schedules::LoopLevel &at = s.funcs[0].compute;
    CHECK(at.stage == 1);  // the stage that has the loop
    CHECK(at.var == yi.name());
    CHECK(s.funcs[0].store.var == yo.name());
    CHECK(at.func == FuncId(1));
    CHECK(s.funcs[1].compute.root());
}

TEST_CASE("a store level that was not given is the compute level", "[freeze]") {
    Var x("x");
    Func f("f"), g("g");
    f(x) = x;
    g(x) = f(x);
    f.compute_at(g, x);
    schedules::Schedule s = freeze({g}).schedule;
    CHECK(s.funcs[0].store == s.funcs[0].compute);
}

TEST_CASE("stamps tell what changed", "[freeze]") {
    Var x("x");
    Func f("f"), unrelated("u");
    ImageParam in(Int(32), 1, "in");
    f(x) = in(x);
    auto up_to_date = [](const language::Frozen &frozen) {
        for (const auto &s : frozen.stamps)
            if (!s.up_to_date())
                return false;
        return true;
    };
    language::Frozen frozen = freeze({f});
    unrelated(x) = x;
    CHECK(up_to_date(frozen));
    f.vectorize(x, 8);
    CHECK_FALSE(up_to_date(frozen));
    frozen = freeze({f});
    in.dim(0).set_min(0);
    CHECK_FALSE(up_to_date(frozen));
}

TEST_CASE("Funcs do not leak", "[freeze]") {
    std::weak_ptr<language::FuncContents> weak[3];
    {
        Var x("x");
        RDom r(1, 9, "r");
        Func f("f"), g("g");
        f(x) = x;
        r.where(f(r) > 2);
        g(x) = 0;
        g(r) = g(r - 1) + f(r);
        Func h("h");
        h(x) = sum(r, g(r) + x);
        f.compute_at(g, r);
        g.compute_at(h, x).store_root();
        h.specialize(Expr(true)).vectorize(x, 4);
        freeze({h});
        weak[0] = f.contents(), weak[1] = g.contents(), weak[2] = h.contents();
    }
    for (auto &w : weak)
        CHECK(w.expired());
}

TEST_CASE("long chains and shared expressions take linear time", "[freeze]") {
    Var x("x");
    std::vector<Func> f(2000);
    f[0](x) = x;
    for (size_t i = 1; i < f.size(); i++)
        f[i](x) = f[i - 1](x) + f[i - 1](x + 1);
    CHECK(freeze({f.back()}).graph.funcs.size() == f.size());

    Expr e = x;
    for (int i = 0; i < 200; i++)
        e = e * e + 1;  // 2^200 as a tree
    Func g("g");
    g(x) = e;
    freeze({g});
}
