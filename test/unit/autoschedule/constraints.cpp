// What the user wrote stays.

#include <algorithm>

#include <catch2/catch_test_macros.hpp>

#include "graph/check.h"
#include "pipelines.h"

using namespace test;
using schedules::FuncSchedule;
using schedules::StageSchedule;

namespace {

FuncId id(const language::Frozen &frozen, const std::string &name) {
    for (const graph::FuncNode &f : frozen.graph.funcs) {
        if (f.name == name)
            return f.id;
    }
    return FuncId::None;
}

bool same_loops(const StageSchedule &a, const StageSchedule &b) {
    return a.dims == b.dims && a.transforms.size() == b.transforms.size();
}

/// Schedules and checks that the Funcs named keep what `frozen` says of them.
Result schedule_keeping(const language::Frozen &frozen, const ScheduleSizes &sizes,
                        const std::vector<std::string> &kept) {
    const Result r = autoschedule_for(frozen, sizes);
    graph::check(graph::inline_funcs(r.graph, r.schedule), r.schedule);
    for (const std::string &name : kept) {
        INFO(name);
        const FuncSchedule &mine = frozen.schedule[id(frozen, name)],
                           &now = r.schedule[id(frozen, name)];
        CHECK(now.compute == mine.compute);
        CHECK(now.store == mine.store);
        for (size_t s = 0; s < mine.stages.size(); s++) {
            if (mine.stages[s].touched)
                CHECK(same_loops(now.stages[s], mine.stages[s]));
        }
    }
    return r;
}

}  // namespace

TEST_CASE("compute_root splits groups") {
    Harris p;
    p.gray.compute_root();
    const language::Frozen frozen = language::freeze({p.harris});
    const Result r = schedule_keeping(frozen, p.sizes(), {"gray"});
    CHECK(r.schedule[id(frozen, "gray")].compute.root());
    CHECK(r.report.plans.size() == 2);
}

TEST_CASE("compute_inline is obeyed") {
    Blur p;
    p.bx.compute_inline();
    const language::Frozen frozen = language::freeze({p.by});
    const Result r = schedule_keeping(frozen, p.sizes(), {"bx"});
    CHECK(r.schedule[id(frozen, "bx")].compute.inlined());
}

TEST_CASE("A loop nest written by hand stays, what is fused into it stays there") {
    Harris p;
    Var yo("yo"), yi("yi");
    p.harris.split(p.y, yo, yi, 32).parallel(yo).vectorize(p.x, 8);
    p.ix.store_at(p.harris, yo).compute_at(p.harris, yi).vectorize(p.x, 8);
    const language::Frozen frozen = language::freeze({p.harris});
    const Result r = schedule_keeping(frozen, p.sizes(), {"harris", "ix"});
    // gray is read by ix, whose loops are not ours.
    const FuncSchedule &gray = r.schedule[id(frozen, "gray")];
    CHECK((gray.compute.root() || gray.compute.inlined()));
}

TEST_CASE("What reads a Func between its level and the Func of that loop is computed there") {
    Harris p;
    p.gray.compute_at(p.harris, p.y);
    p.det.compute_inline();
    p.iy.compute_at(p.harris, p.x);
    const language::Frozen frozen = language::freeze({p.harris});
    const Result r = schedule_keeping(frozen, p.sizes(), {"gray", "iy"});
    auto loop = [&](const char *f) { return r.schedule[id(frozen, f)].compute.var; };
    CHECK(loop("ix") == loop("gray"));
    CHECK(loop("iyy") == loop("iy"));  // the inner loop of those of its producers
    CHECK(loop("sxy") == loop("iy"));
    CHECK(r.schedule[id(frozen, "det")].compute.inlined());
}

// The Tuple can read f nowhere: f is legal in loops of g because the element of the Tuple that needs f is not used.
TEST_CASE("What reads a Func outside of the loops of its level is inlined") {
    Func f("f"), g("g"), pair("pair"), next("next"), other("other"), out("out");
    Var x("x"), y("y");
    f(x, y) = x * y;
    pair(x, y) = Tuple(f(x, y) + f(x + 1, y), x + y);
    next(x, y) = Tuple(pair(x, y)[0] + pair(x, y + 1)[0], pair(x, y)[1] + pair(x, y + 1)[1]);
    other(x, y) = next(x, y)[1] + next(x + 1, y)[1];
    bool reads = false;
    SECTION("g does not read it") {}
    SECTION("g reads it") {
        reads = true;
    }
    g(x, y) = reads ? f(x, y) + f(x, y + 1) : x - y;
    out(x, y) = g(x, y) + g(x + 1, y) + other(x, y) + other(x, y + 1);
    g.compute_root();
    f.compute_at(g, x);
    const language::Frozen frozen = language::freeze({out});
    const Result result = schedule_keeping(frozen, {{{{0, 400}, {0, 300}}}, {}, {}}, {"f", "g"});
    CHECK(result.schedule[id(frozen, "pair")].compute.inlined());
    CHECK(result.schedule[id(frozen, "next")].compute.inlined());
    const schedules::Schedule fallback = autoschedule::at_root(frozen.graph, frozen.schedule);
    graph::check(graph::inline_funcs(frozen.graph, fallback), fallback);
}

TEST_CASE("A store level without a compute level: computed where it is stored") {
    Blur p;
    RDom r(0, 2);
    Func sum("sum");
    sum(p.x, p.y) = cast<uint16_t>(0);
    sum(p.x, p.y) += p.bx(p.x + r, p.y);
    Func out("out");
    out(p.x, p.y) = sum(p.x, p.y) + sum(p.x, p.y + 1);
    SECTION("root, with loops of its own") {
        sum.store_root().update().vectorize(p.x, 4);
        const language::Frozen frozen = language::freeze({out});
        const Result result = autoschedule_for(frozen, {{{{0, 256}, {0, 256}}}, {}, {}});
        graph::check(graph::inline_funcs(frozen.graph, result.schedule), result.schedule);
        CHECK(result.schedule[id(frozen, "sum")].compute.root());
    }
    SECTION("a loop") {
        sum.store_at(out, p.y);
        const language::Frozen frozen = language::freeze({out});
        const Result result = autoschedule_for(frozen, {{{{0, 256}, {0, 256}}}, {}, {}});
        graph::check(graph::inline_funcs(frozen.graph, result.schedule), result.schedule);
        CHECK(result.schedule[id(frozen, "sum")].compute ==
              frozen.schedule[id(frozen, "sum")].store);
    }
}

TEST_CASE("What a loop prefetches is stored") {
    Blur p;
    p.by.prefetch(p.bx, p.y, p.y, 2);
    const language::Frozen frozen = language::freeze({p.by});
    const Result r = autoschedule_for(frozen, p.sizes());
    graph::check(graph::inline_funcs(r.graph, r.schedule), r.schedule);
    CHECK(r.schedule[id(frozen, "bx")].compute.root());
}

TEST_CASE("A loop directive without a level: stored, with those loops") {
    Blur p;
    p.bx.vectorize(p.x, 4);
    const language::Frozen frozen = language::freeze({p.by});
    const Result r = autoschedule_for(frozen, p.sizes());
    graph::check(graph::inline_funcs(r.graph, r.schedule), r.schedule);
    CHECK(r.schedule[id(frozen, "bx")].compute.root());
    CHECK(same_loops(r.schedule[id(frozen, "bx")].stages[0],
                     frozen.schedule[id(frozen, "bx")].stages[0]));
}

// Of a whole dimension: in the loops of the reader it has one column, at root as many as the output.
TEST_CASE("A vectorized dimension of a Func without a level keeps its constant extent") {
    for (const char *how : {"whole", "renamed", "bounded", "split"}) {
        INFO(how);
        Func f("f");
        Var x("x"), y("y"), u("u"), z("z"), xo("xo"), xi("xi");
        RDom r(0, 16, "r");
        RVar ro("ro"), ri("ri");
        f(x, y) = x;
        f(x, y) += r * y;
        Func part = f.update().split(r, ro, ri, 4).rfactor(ro, u);
        const std::string_view way = how;
        if (way == "whole")
            part.vectorize(x);
        else if (way == "renamed")
            part.rename(x, z).unroll(z);
        else if (way == "bounded")
            part.bound(x, 0, 40).vectorize(x);
        else
            part.split(x, xo, xi, 4).vectorize(xi);
        const language::Frozen frozen = language::freeze({f});
        const Result result = autoschedule_for(frozen, {{{{0, 40}, {0, 30}}}, {}, {}});
        const bool anywhere = way == "bounded" || way == "split";
        CHECK(result.schedule[id(frozen, "f_intm")].compute.root() == anywhere);
        Pipeline pipeline(f);
        pipeline.autoschedule(get_host_target()).compile_jit();
        CHECK(pipeline.schedule_report().find("no usable schedule") == std::string::npos);
    }
}

TEST_CASE("Each Func of each pipeline can be pinned") {
    for (const char *name : {"gray", "ix", "iy", "ixx", "ixy", "sxx", "det", "trace"}) {
        Harris p;
        for (Func *f : {&p.gray, &p.ix, &p.iy, &p.ixx, &p.ixy, &p.sxx, &p.det, &p.trace}) {
            if (f->name() == name)
                f->compute_root();
        }
        schedule_keeping(language::freeze({p.harris}), p.sizes(), {name});
    }
}

// Storage between a Func without level and the loops around it: the readers in between get no level either.
TEST_CASE("hoist_storage of a Func whose reader has no level", "[hoist]") {
    Func f("f"), g("g");
    Var x("x"), y("y"), u("u");
    RDom r(-1, 1, -1, 1, "r");
    f(x, y) = 0;
    f(r.x * r.y, y) += 1;
    g(x, y) = f(x, y) + f(x, y);
    Func part = f.update().rfactor(r.x, u);
    part.hoist_storage(g, x);
    SECTION("the storage alone") {}
    SECTION("and its order") {
        part.reorder_storage(u, x, y);
    }
    SECTION("and that of the reader") {
        f.reorder_storage(y, x);
    }
    const language::Frozen frozen = language::freeze({g});
    schedule_keeping(frozen, {{{{0, 40}, {0, 30}}}, {}, {}}, {"f", "f_intm", "g"});
}

TEST_CASE("hoist_storage into the loops of a Func that would be inlined", "[hoist]") {
    Func f("f"), g("g"), out("out");
    Var x("x");
    RDom r(0, 4, "r");
    f(x) = 0;
    f(x) += r;
    g(x) = f(x) + f(x);
    out(x) = g(x) + g(x);
    f.hoist_storage(g, x);
    const language::Frozen frozen = language::freeze({out});
    const Result result = schedule_keeping(frozen, {{{{0, 40}}}, {}, {}}, {"f"});
    CHECK(result.schedule[id(frozen, "g")].compute.root());
}
