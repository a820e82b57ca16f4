// What the user wrote stays.

#include <algorithm>

#include <catch2/catch_test_macros.hpp>

#include "graph/check.h"
#include "pipelines.h"

using namespace test;
using schedules::FuncSchedule;
using schedules::StageSchedule;

namespace {

FuncId id(const graph::Frozen &frozen, const std::string &name) {
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
Result schedule_keeping(const graph::Frozen &frozen, const ScheduleSizes &sizes,
                        const std::vector<std::string> &kept) {
    const Result r = autoschedule_for(frozen, sizes);
    graph::check(graph::inline_funcs(frozen.graph, r.schedule), r.schedule);
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
    const graph::Frozen frozen = graph::freeze({p.harris});
    const Result r = schedule_keeping(frozen, p.sizes(), {"gray"});
    CHECK(r.schedule[id(frozen, "gray")].compute.root());
    CHECK(r.report.plans.size() == 2);
}

TEST_CASE("compute_inline is obeyed") {
    Blur p;
    p.bx.compute_inline();
    const graph::Frozen frozen = graph::freeze({p.by});
    const Result r = schedule_keeping(frozen, p.sizes(), {"bx"});
    CHECK(r.schedule[id(frozen, "bx")].compute.inlined());
}

TEST_CASE("A loop nest written by hand stays, what is fused into it stays there") {
    Harris p;
    Var yo("yo"), yi("yi");
    p.harris.split(p.y, yo, yi, 32).parallel(yo).vectorize(p.x, 8);
    p.ix.store_at(p.harris, yo).compute_at(p.harris, yi).vectorize(p.x, 8);
    const graph::Frozen frozen = graph::freeze({p.harris});
    const Result r = schedule_keeping(frozen, p.sizes(), {"harris", "ix"});
    // gray is read by ix, whose loops are not ours.
    const FuncSchedule &gray = r.schedule[id(frozen, "gray")];
    CHECK((gray.compute.root() || gray.compute.inlined()));
}

TEST_CASE("A loop directive without a level: stored, with those loops") {
    Blur p;
    p.bx.vectorize(p.x, 4);
    const graph::Frozen frozen = graph::freeze({p.by});
    const Result r = autoschedule_for(frozen, p.sizes());
    graph::check(graph::inline_funcs(frozen.graph, r.schedule), r.schedule);
    CHECK(r.schedule[id(frozen, "bx")].compute.root());
    CHECK(same_loops(r.schedule[id(frozen, "bx")].stages[0],
                     frozen.schedule[id(frozen, "bx")].stages[0]));
}

TEST_CASE("Each Func of each pipeline can be pinned") {
    for (const char *name : {"gray", "ix", "iy", "ixx", "ixy", "sxx", "det", "trace"}) {
        Harris p;
        for (Func *f : {&p.gray, &p.ix, &p.iy, &p.ixx, &p.ixy, &p.sxx, &p.det, &p.trace}) {
            if (f->name() == name)
                f->compute_root();
        }
        schedule_keeping(graph::freeze({p.harris}), p.sizes(), {name});
    }
}
