// What is chosen for small known pipelines, and that it is legal.

#include <algorithm>

#include <catch2/catch_test_macros.hpp>

#include "graph/check.h"
#include "pipelines.h"

using namespace test;

namespace {

const autoschedule::Plan *plan_of(const Result &r, const language::Frozen &frozen,
                                  const char *name) {
    for (const autoschedule::Plan &p : r.report.plans) {
        if (frozen.graph[static_cast<FuncId>(p.output())].name == name)
            return &p;
    }
    return nullptr;
}

void check_legal(const Result &r) {
    graph::check(graph::inline_funcs(r.graph, r.schedule), r.schedule);
}

FuncId id(const language::Frozen &frozen, const std::string &name) {
    for (const graph::FuncNode &f : frozen.graph.funcs) {
        if (f.name == name)
            return f.id;
    }
    return FuncId::None;
}

bool has_loop(const schedules::StageSchedule &s, LoopKind kind) {
    return std::any_of(s.dims.begin(), s.dims.end(), [&](const auto &d) { return d.kind == kind; });
}

}  // namespace

TEST_CASE("Blur is computed in blocks of rows, in parallel and in vectors") {
    Blur p;
    const language::Frozen frozen = language::freeze({p.by});
    const Result r = autoschedule_for(frozen, p.sizes());
    check_legal(r);
    REQUIRE(r.report.plans.size() == 1);
    const auto &by = r.schedule[id(frozen, "by")].stages[0];
    CHECK(has_loop(by, LoopKind::Parallel));
    CHECK(has_loop(by, LoopKind::Unrolled));
    CHECK(by.dims.front().kind == LoopKind::Vectorized);
    // Its rows evaluate the rows of bx that they share once.
    CHECK(r.report.inlined == std::vector<std::string>{"bx"});
    CHECK(r.report.plans[0].cost.scratch_bytes <= 48 << 10);
}

TEST_CASE("Unsharp: what the channels share is computed once") {
    UnsharpShared p;
    const language::Frozen frozen = language::freeze({p.unsharp});
    const Result r = autoschedule_for(frozen, p.sizes());
    check_legal(r);
    const autoschedule::Plan *plan = plan_of(r, frozen, "unsharp");
    REQUIRE(plan);
    CHECK(plan->tile[2] == 3);
    CHECK(plan->cost.redundancy < 0.1);
}

TEST_CASE("Harris: pointwise stages disappear, the rest is one group") {
    Harris p;
    const language::Frozen frozen = language::freeze({p.harris});
    const Result r = autoschedule_for(frozen, p.sizes());
    check_legal(r);
    CHECK(r.report.plans.size() == 1);
    for (const char *name : {"sxx", "syy", "sxy", "det", "trace"}) {
        const auto &inlined = r.report.inlined;
        CHECK(std::find(inlined.begin(), inlined.end(), name) != inlined.end());
    }
    CHECK(r.report.plans[0].cost.scratch_bytes <= 1 << 20);
}

// Each of them would enumerate hundreds of groups.
TEST_CASE("Inlining that costs more in the groups as they are is not tried with others") {
    Var x("x"), y("y");
    ImageParam in(Float(32), 2, "in");
    std::vector<Func> levels;
    Func base("base");
    base(x, y) = in(clamp(x, 0, in.width() - 1), clamp(y, 0, in.height() - 1));
    levels.push_back(base);
    for (int l = 1; l < 8; l++) {
        Func across, down, squared;
        across(x, y) =
            (levels.back()(2 * x - 1, y) + levels.back()(2 * x, y) + levels.back()(2 * x + 1, y)) /
            3;
        squared(x, y) = across(x, y) * across(x, y) + 1.0f;
        down(x, y) = sqrt(squared(x, 2 * y - 1) + squared(x, 2 * y) + squared(x, 2 * y + 1));
        levels.push_back(down);
    }
    Func result = levels.back();
    for (size_t l = levels.size() - 1; l-- > 0;) {
        Func up, mixed;
        up(x, y) = (result(x / 2, y / 2) + result((x + 1) / 2, (y + 1) / 2)) / 2;
        mixed(x, y) = levels[l](x, y) * up(x, y);
        result = mixed;
    }
    const Result r =
        autoschedule_for(language::freeze({result}),
                         {{{{0, 2048}, {0, 2048}}}, {{"in", {{0, 2048}, {0, 2048}}}}, {}});
    INFO(r.report.groups_evaluated);
    CHECK(r.report.groups_evaluated <= 1000);
}

TEST_CASE("The same question gets the same answer") {
    for (int round = 0; round < 2; round++) {
        auto ask = [] {  // one pipeline after the other: names are unique among the living
            Harris h;
            return autoschedule_for(language::freeze({h.harris}), h.sizes());
        };
        const Result first = ask(), second = ask();
        REQUIRE(first.report.plans.size() == second.report.plans.size());
        for (size_t i = 0; i < first.report.plans.size(); i++) {
            CHECK(first.report.plans[i].members == second.report.plans[i].members);
            CHECK(first.report.plans[i].tile == second.report.plans[i].tile);
        }
        CHECK(first.report.cost == second.report.cost);
        CHECK(first.report.inlined == second.report.inlined);
    }
}

TEST_CASE("A tiny image is not worth a thread") {
    Blur p;
    const language::Frozen frozen = language::freeze({p.by});
    const Result r = autoschedule_for(frozen, p.sizes(64, 64));
    CHECK_FALSE(has_loop(r.schedule[id(frozen, "by")].stages[0], LoopKind::Parallel));
}

TEST_CASE("More cores, at least as many tasks") {
    Blur p;
    const language::Frozen frozen = language::freeze({p.by});
    Machine many = two_cores();
    many.cores = 48;
    const Result r = autoschedule_for(frozen, p.sizes(), many);
    CHECK(r.report.plans[0].tile[1] <= 1920 / 48);
}

TEST_CASE("Scratch of fused groups fits the caches that are there") {
    for (int64_t l2 : {256 << 10, 1 << 20}) {
        Machine m = two_cores();
        m.l1_bytes = 32 << 10;
        m.l2_bytes = l2;
        Harris p;
        const Result r = autoschedule_for(language::freeze({p.harris}), p.sizes(6000, 4000), m);
        for (const auto &plan : r.report.plans)
            CHECK(plan.cost.scratch_bytes <= double(l2));
    }
}

TEST_CASE("Unknown sizes get a schedule, too") {
    Blur p;
    const language::Frozen frozen = language::freeze({p.by});
    const Result r = autoschedule_for(frozen, {});
    check_legal(r);
    CHECK(r.report.plans.size() == 1);
}
