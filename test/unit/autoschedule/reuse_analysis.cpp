// The strategy ReuseAnalysis, against the closed forms of its paper (Sioutas 2019).
#include <algorithm>

#include <catch2/catch_test_macros.hpp>

#include "autoschedule/strategies/reuse_tiling.h"
#include "graph/check.h"
#include "pipelines.h"
#include "priced.h"

using namespace test;
using namespace Pipe::autoschedule::reuse;
using autoschedule::Plan;
using autoschedule::Segment;
using autoschedule::TileView;

namespace {

/// Whether every Func is a member of one group, or inlined.
bool is_complete(const Result &r, const language::Frozen &frozen) {
    size_t count = r.report.inlined.size();
    for (const Plan &plan : r.report.plans)
        count += plan.members.size();
    return count == frozen.graph.funcs.size();
}

Result reuse_schedule(const language::Frozen &frozen, const ScheduleSizes &sizes,
                      const Machine &machine = two_cores()) {
    AutoscheduleOptions options;
    options.strategy = AutoscheduleOptions::Strategy::ReuseAnalysis;
    Result r = autoschedule_for(frozen, sizes, machine, options);
    INFO(r.report.text);
    CHECK(is_complete(r, frozen));
    CHECK_NOTHROW(graph::check(graph::inline_funcs(r.graph, r.schedule), r.schedule));
    return r;
}

Segment segment(const Priced &p, const std::vector<std::string> &names) {
    Segment result;
    for (const std::string &name : names)
        result.push_back(static_cast<int>(p.node(name).id));
    return result;
}

/// The paper's example: Bx x By pixels of uint16.
constexpr int64_t bx = 2560, by = 1920;

Priced blur() {
    return price(Blur().by, {{0, bx - 1}, {0, by - 1}});
}

Schedule tiled(const TileView &view, int64_t width, int64_t height, Levels levels) {
    Schedule s;
    s.order = {{0, 1}, {0, 1}};
    s.tile = {width, height};
    s.levels.assign(view.size(), levels);
    return s;
}

/// Names of all members, of all groups.
std::vector<std::string> stored(const Result &r, const language::Frozen &frozen) {
    std::vector<std::string> names;
    for (const Plan &plan : r.report.plans)
        for (int member : plan.members)
            names.push_back(frozen.graph[static_cast<FuncId>(member)].name);
    return names;
}

bool contains(const std::vector<std::string> &names, const std::string &name) {
    return std::count(names.begin(), names.end(), name) > 0;
}

}  // namespace

TEST_CASE("ReuseAnalysis: overlaps of a stage with its consumer", "[autoschedule]") {
    const Priced p = blur();
    const std::vector<Overlap> found = overlaps(p.node("bx"), p.node("by"));
    REQUIRE(found.size() == 2);
    CHECK((found[0].dim == 0 && found[0].amount == 0 && !found[0].full));
    CHECK((found[1].dim == 1 && found[1].amount == 2 && !found[1].full));

    Var x("x"), y("y"), c("c");
    Func half("half"), up("up"), line("line"), all("all");
    half(x, y) = x + y;
    up(x, y) = half(x / 2, y) + half((x + 1) / 2, y);
    line(x) = x;
    all(x, y) = up(x, y) + line(x);
    const Priced q = price(all, {{0, 99}, {0, 99}});
    CHECK(overlaps(q.node("half"), q.node("up"))[0].amount == 1);
    CHECK(overlaps(q.node("up"), q.node("all"))[0].amount == 0);
    CHECK(overlaps(q.node("line"), q.node("all"))[1].full);
}

TEST_CASE("ReuseAnalysis: a stage slides along the outermost loop of its reuse", "[autoschedule]") {
    const Priced p = blur();
    const TileView view(p.graph, segment(p, {"by", "bx"}));
    // Figure 2 (c): computed per row of the tile, stored per tile.
    const std::vector<Levels> rows = stage_levels(view, {{0, 1}, {0, 1}});
    CHECK((rows[1].compute == 1 && rows[1].store == 2));
}

TEST_CASE("ReuseAnalysis: reuse along the columns alone does not slide", "[autoschedule]") {
    Var x("x"), y("y");
    Func a("a"), b("b");
    a(x, y) = x * y + 3;
    b(x, y) = a(x, y) + a(x + 1, y) + a(x + 2, y);
    const Priced p = price(b, {{0, 999}, {0, 999}});
    const TileView view(p.graph, segment(p, {"b", "a"}));
    // The chosen index is the column: both levels are the loop around it.
    const std::vector<Levels> levels = stage_levels(view, {{0, 1}, {0, 1}});
    CHECK((levels[1].compute == 1 && levels[1].store == 1));
}

// Covariances read the means of both of their variables.
TEST_CASE("ReuseAnalysis: a window that a loop moves in two dimensions does not slide",
          "[autoschedule]") {
    Var x("x"), y("y");
    Func a("a"), b("b");
    a(x, y) = x * y + 3;
    b(x, y) = a(y, y) + a(y + 1, y + 1) + x;
    const Priced p = price(b, {{0, 999}, {0, 999}});
    const TileView view(p.graph, segment(p, {"b", "a"}));
    const std::vector<Levels> levels = stage_levels(view, {{0, 1}, {0, 1}});
    CHECK((levels[1].compute == 2 && levels[1].store == 2));
}

TEST_CASE("ReuseAnalysis: a stage is not computed inside of loops around its consumer",
          "[autoschedule]") {
    Var x("x"), y("y");
    Func a("a"), b("b"), c("c");
    a(x, y) = x * y + 3;
    b(x, y) = a(x, y) + a(x + 1, y);
    c(x, y) = b(x, y) + b(x, y + 1);
    const Priced p = price(c, {{0, 999}, {0, 999}});
    const TileView view(p.graph, segment(p, {"c", "b", "a"}));
    const std::vector<Levels> levels = stage_levels(view, {{0, 1}, {0, 1}});
    CHECK((levels[1].compute == 1 && levels[1].store == 2));
    CHECK(levels[2].compute >= levels[1].compute);
    CHECK(levels[2].store >= levels[2].compute);
}

TEST_CASE("ReuseAnalysis: equations 1 to 11 for the blur", "[autoschedule]") {
    const Priced p = blur();
    const Machine machine = two_cores();
    const TileView view(p.graph, segment(p, {"by", "bx"}));
    const double tx = 256, ty = 32, tiles = (bx / tx) * (by / ty);
    const double image = load_weight(p.graph.image_bytes[0], machine);

    SECTION("overlapped tiles") {
        const ScheduleCost cost = evaluate(view, tiled(view, 256, 32, {2, 2}), machine);
        CHECK(cost.evaluations - double(bx * by) == tx * (ty + 2) * tiles);  // (3)
        CHECK(cost.root - double(bx * by) == double(bx * (by + 2)));         // (4)
        CHECK(cost.unfolded_bytes == tx * (ty + 2) * 2);                     // (1)
        CHECK(cost.folded_bytes == 0);
        const double buffer = load_weight(tx * (ty + 2) * 2, machine);
        CHECK(cost.loads == image * (ty + 2) * tiles + buffer * (ty + 2) * tiles);  // (6)
    }
    SECTION("sliding windows inside of tiles") {
        const ScheduleCost cost = evaluate(view, tiled(view, 256, 32, {1, 2}), machine);
        CHECK(cost.evaluations - double(bx * by) == tx * (ty + 2) * tiles);
        CHECK(cost.folded_bytes == tx * 4 * 2);  // (9), as many rows as a power of two
        CHECK(cost.unfolded_bytes == 0);
        const double buffer = load_weight(tx * 4 * 2, machine);
        CHECK(cost.loads == image * (ty + 2) * tiles + buffer * (ty + 2) * tiles);
    }
    SECTION("computed inside of the column") {
        const ScheduleCost cost = evaluate(view, tiled(view, 256, 32, {0, 2}), machine);
        const double buffer = load_weight(cost.folded_bytes, machine);
        // (13): all three elements of the input, for each point
        CHECK(cost.loads == image * 3 * tx * (ty + 2) * tiles + buffer * (ty + 2) * tiles);
    }
}

TEST_CASE("ReuseAnalysis: tile sizes respect the constraints", "[autoschedule]") {
    for (const int cores : {1, 2, 7}) {
        Machine machine = two_cores();
        machine.cores = cores;
        const language::Frozen frozen = language::freeze({Blur().by});
        const Result r = reuse_schedule(frozen, Blur().sizes(), machine);
        REQUIRE(r.report.plans.size() == 1);
        const Plan &plan = r.report.plans[0];
        CHECK(plan.members.size() == 2);
        CHECK((plan.tile[0] % 32 == 0 || plan.tile[0] == 2560));  // lines of uint16
        CHECK(plan.tile[1] >= 2);                                 // (15)
        if (cores > 1) {
            const size_t outermost = static_cast<size_t>(plan.outer[0]);
            const int64_t extent = outermost == 0 ? 2560 : 1920;
            CHECK((extent + plan.tile[outermost] - 1) / plan.tile[outermost] >= cores);  // (14)
            CHECK(plan.parallel);
        }
    }
}

TEST_CASE("ReuseAnalysis: products of derivatives are inlined, the derivatives stored",
          "[autoschedule]") {
    Harris p;
    const language::Frozen frozen = language::freeze({p.harris});
    const std::vector<std::string> kept = stored(reuse_schedule(frozen, p.sizes()), frozen);
    for (const char *name : {"ix", "iy", "gray", "harris"})
        CHECK(contains(kept, name));
    for (const char *name : {"ixx", "iyy", "ixy", "sxx", "det", "trace"})
        CHECK_FALSE(contains(kept, name));
}

// Of one pixel, nothing is read by two iterations: inlined, the expressions would be exponential.
TEST_CASE("ReuseAnalysis: a chain of one pixel is not inlined as a whole", "[autoschedule]") {
    Var x("x"), y("y");
    std::vector<Func> chain = {Func("first")};
    chain[0](x, y) = x + y + 1;
    for (int i = 0; i < 40; i++) {
        const Func &in = chain.back();
        Func f("up_" + std::to_string(i));
        f(x, y) = in(x / 2, y) + in((x + 1) / 2, y);
        chain.push_back(f);
    }
    const language::Frozen frozen = language::freeze({chain.back()});
    const ScheduleSizes sizes = {{{{0, 1}, {0, 1}}}, {}, {}};
    CHECK(stored(reuse_schedule(frozen, sizes), frozen).size() > 20);
}

TEST_CASE("ReuseAnalysis: pipelines that do not fit the last-level cache are split",
          "[autoschedule]") {
    Var x("x"), y("y");
    std::vector<Func> chain;
    for (int i = 0; i < 6; i++) {
        Func f("chain_" + std::to_string(i));
        if (i == 0)
            f(x, y) = x * y + 1.0f;
        else
            f(x, y) = chain.back()(x, y) + chain.back()(x + 1, y + 8) + chain.back()(x, y + 4);
        chain.push_back(f);
    }
    const language::Frozen frozen = language::freeze({chain.back()});
    const ScheduleSizes sizes = {{{{0, 4096}, {0, 4096}}}, {}, {}};
    Machine machine = two_cores();
    CHECK(reuse_schedule(frozen, sizes, machine).report.plans.size() == 1);
    machine.l2_bytes = 512;
    machine.l3_bytes = 3 << 10;
    const Result r = reuse_schedule(frozen, sizes, machine);
    CHECK(r.report.plans.size() > 1);
    for (const Plan &plan : r.report.plans)
        CHECK(plan.cost.scratch_bytes <= double(machine.l3_bytes));
}

// A sum is not tiled: it cannot be the output of a segment of several stages.
TEST_CASE("ReuseAnalysis: no stage is lost where sums are split off", "[autoschedule]") {
    Var x("x"), y("y");
    RDom r(-1, 3, "r");
    std::vector<Func> chain = {Func("first")};
    chain[0](x, y) = x * y + 1.0f;
    for (int i = 0; i < 5; i++) {
        Func sum("sum_" + std::to_string(i));
        sum(x, y) = 0.0f;
        sum(x, y) += chain.back()(x + r, y) * chain.back()(x, y + r);
        Func two("two_" + std::to_string(i));
        two(x, y) = sum(x, y) + sum(x, y + 1);
        chain.push_back(two);
    }
    const language::Frozen frozen = language::freeze({chain.back()});
    for (const int64_t cache : {1 << 8, 1 << 12, 1 << 14, 1 << 20}) {
        Machine machine = two_cores();
        machine.l2_bytes = machine.l3_bytes = cache;
        reuse_schedule(frozen, {{{{0, 2048}, {0, 2048}}}, {}, {}}, machine);
    }
}

TEST_CASE("ReuseAnalysis: the same schedule each time", "[autoschedule]") {
    Harris p;
    const language::Frozen frozen = language::freeze({p.harris});
    const Result a = reuse_schedule(frozen, p.sizes()), b = reuse_schedule(frozen, p.sizes());
    REQUIRE(a.report.plans.size() == b.report.plans.size());
    for (size_t i = 0; i < a.report.plans.size(); i++) {
        CHECK(a.report.plans[i].members == b.report.plans[i].members);
        CHECK(a.report.plans[i].tile == b.report.plans[i].tile);
    }
}
