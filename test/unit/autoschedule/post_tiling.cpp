// The strategy PostTiling, against the example of its paper (Zhao 2020, Figures 1 to 4).
#include <algorithm>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "autoschedule/strategies/segments.h"
#include "graph/check.h"
#include "pipelines.h"
#include "priced.h"

using namespace test;
using autoschedule::Level;
using autoschedule::Plan;
using autoschedule::TileView;

namespace {

/// Quantize, convolve, cut off at 0.
struct Quantized {
    Var x{"x"}, y{"y"};
    RDom r{0, 3, 0, 3, "r"};
    ImageParam input{Float(32), 2, "input"};
    Func quantized{"quantized"}, conv{"conv"}, relu{"relu"};

    Quantized() {
        quantized(x, y) = clamp(input(x, y) * 16.0f, -128.0f, 127.0f);
        conv(x, y) = 0.0f;
        conv(x, y) += quantized(x + r.x, y + r.y) * cast<float>(r.x - r.y);
        relu(x, y) = max(conv(x, y), 0.0f);
    }
};

Result post_schedule(const language::Frozen &frozen, const ScheduleSizes &sizes) {
    AutoscheduleOptions options;
    options.strategy = AutoscheduleOptions::Strategy::PostTiling;
    Result r = autoschedule_for(frozen, sizes, two_cores(), options);
    INFO(r.report.text);
    size_t count = r.report.inlined.size();
    for (const Plan &plan : r.report.plans)
        count += plan.members.size();
    CHECK(count == frozen.graph.funcs.size());
    CHECK_NOTHROW(graph::check(graph::inline_funcs(r.graph, r.schedule), r.schedule));
    return r;
}

std::vector<std::string> names(const language::Frozen &frozen, const Plan &plan) {
    std::vector<std::string> result;
    for (int m : plan.members)
        result.push_back(frozen.graph[static_cast<FuncId>(m)].name);
    return result;
}

ScheduleSizes picture(int64_t width, int64_t height) {
    return {{{{0, width}, {0, height}}}, {{"input", {{0, width + 2}, {0, height + 2}}}}, {}};
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("PostTiling: the tiles of the paper's example", "[autoschedule]") {
    Quantized q;
    const Priced p = price(q.relu, {{0, 3}, {0, 3}}, {});  // H = W = 6, KH = KW = 3
    const TileView view(
        p.graph, {int(p.node("relu").id), int(p.node("conv").id), int(p.node("quantized").id)});
    // Figure 4: of tensor A, a tile of 2 x 2 needs 4 x 4 points.
    CHECK(view.extents(view.region(2), {2, 2}) == std::vector<int64_t>{4, 4});
    CHECK(view.extents(view.region(1), {2, 2}) == std::vector<int64_t>{2, 2});
    CHECK(view.recomputation(2, {2, 2}) == Catch::Approx(64.0 / 36));
    CHECK(view.recomputation(1, {2, 2}) == 1);
}

TEST_CASE("PostTiling: all stages are fused with the tiles of the live-out", "[autoschedule]") {
    Quantized q;
    const language::Frozen frozen = language::freeze({q.relu});
    const Result r = post_schedule(frozen, picture(2000, 1000));
    REQUIRE(r.report.plans.size() == 1);
    const Plan &plan = r.report.plans[0];
    REQUIRE(names(frozen, plan) == Names{"relu", "conv", "quantized"});
    CHECK(plan.tile == std::vector<int64_t>{256, 32});
    CHECK(plan.outer == std::vector<int>{1, 0});
    CHECK(plan.parallel);
    for (size_t m = 1; m < 3; m++)
        CHECK(plan.levels[m] == Level::Tile);
    CHECK(plan.extents[2] == std::vector<int64_t>{258, 34});
}

TEST_CASE("PostTiling: Harris corners are three stages and the gray picture", "[autoschedule]") {
    Harris p;
    const language::Frozen frozen = language::freeze({p.harris});
    const Result r = post_schedule(frozen, p.sizes());
    REQUIRE(r.report.plans.size() == 1);
    CHECK(names(frozen, r.report.plans[0]) == Names{"harris", "iy", "ix", "gray"});
}

TEST_CASE("PostTiling: a space that two live-outs need is not fused with either",
          "[autoschedule]") {
    Var x("x"), y("y");
    ImageParam input(Float(32), 2, "input");
    Func shared("shared"), left("left"), right("right"), below("below");
    below(x, y) = input(x, y) + input(x + 1, y);
    shared(x, y) = below(x, y) + below(x, y + 1);
    left(x, y) = shared(x, y) + shared(x + 1, y);
    right(x, y) = shared(x, y) * shared(x, y + 1);
    const language::Frozen frozen = language::freeze({left, right});
    const ScheduleSizes sizes = {
        {{{0, 500}, {0, 500}}, {{0, 500}, {0, 500}}}, {{"input", {{0, 510}, {0, 510}}}}, {}};
    const Result r = post_schedule(frozen, sizes);
    REQUIRE(r.report.plans.size() == 3);
    // The shared one is a live-out itself, with which its own producer is fused.
    CHECK(names(frozen, r.report.plans[0]) == Names{"shared", "below"});
    CHECK(names(frozen, r.report.plans[1]).size() == 1);
    CHECK(names(frozen, r.report.plans[2]).size() == 1);
}

TEST_CASE("PostTiling: a space with fewer parallel loops is not fused", "[autoschedule]") {
    Var x("x"), y("y");
    ImageParam input(Float(32), 2, "input");
    RDom r(1, 499, "r");
    Func scan("scan"), out("out");
    scan(x, y) = input(x, y);
    scan(x, r) += scan(x, r - 1);
    out(x, y) = scan(x, y) + scan(x + 1, y);
    const language::Frozen frozen = language::freeze({out});
    CHECK(post_schedule(frozen, picture(400, 500)).report.plans.size() == 2);
}

TEST_CASE("PostTiling: what every column of tiles needs again is not fused", "[autoschedule]") {
    Var x("x"), y("y");
    ImageParam input(Float(32), 2, "input");
    RDom r(0, 500, "r");
    Func d("d"), e("e"), out("out");
    d(x, y) = input(x, y) * 2.0f + input(x, y + 1);
    e(x, y) = 0.0f;
    e(x, y) += d(r, y) * input(x, r);  // a row of d for each point
    out(x, y) = e(x, y) + 1.0f;
    const language::Frozen frozen = language::freeze({out});
    const Result result =
        post_schedule(frozen, {{{{0, 500}, {0, 500}}}, {{"input", {{0, 600}, {0, 600}}}}, {}});
    REQUIRE(result.report.plans.size() == 2);
    CHECK(names(frozen, result.report.plans[0]) == Names{"d"});
}
