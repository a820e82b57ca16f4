// The published schedulers: what they choose for small pipelines, that it is legal, and how much they
// enumerate.

#include <algorithm>
#include <set>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include "autoschedule/search.h"
#include "autoschedule/strategies/dp_fusion.h"
#include "autoschedule/strategies/enumeration.h"
#include "autoschedule/strategies/strategies.h"
#include "graph/check.h"
#include "priced.h"

using namespace test;
using Strategy = AutoscheduleOptions::Strategy;
using Tile = std::vector<int64_t>;

namespace {

/// The Xeon of the paper, section 7.1.
Machine xeon() {
    Machine m;
    m.cores = 16;
    m.vector_bytes = 32;
    m.l1_bytes = 32 << 10;
    m.l2_bytes = 256 << 10;
    m.l3_bytes = 20 << 20;
    return m;
}

Result schedule_by(Strategy strategy, const std::vector<Func> &outputs, const ScheduleSizes &sizes,
                   const Machine &machine = xeon()) {
    const language::Frozen frozen = language::freeze(outputs);
    AutoscheduleOptions options;
    options.strategy = strategy;
    Result r = autoschedule_for(frozen, sizes, machine, options);
    INFO(r.report.text);
    CHECK_NOTHROW(graph::check(graph::inline_funcs(r.graph, r.schedule), r.schedule));
    CHECK(r.report.text.find("strategy: " + to_string(strategy)) != std::string::npos);
    return r;
}

std::set<std::string> names(const std::vector<std::string> &list) {
    return {list.begin(), list.end()};
}

autoschedule::SearchResult fuse(const Priced &pipeline, const autoschedule::FusionParts &parts) {
    return autoschedule::dp_fusion(pipeline.graph, xeon(), {}, parts);
}

std::vector<Func> stencils(int count) {
    Var x("x"), y("y");
    ImageParam in(Float(32), 2, "in");
    std::vector<Func> chain;
    for (int i = 0; i < count; i++) {
        Func f("stencil" + std::to_string(i));
        if (i == 0)
            f(x, y) = in(x, y - 1) + in(x - 1, y) + in(x, y + 1);
        else
            f(x, y) = chain.back()(x, y - 1) + chain.back()(x - 1, y) + chain.back()(x, y + 1);
        chain.push_back(f);
    }
    return chain;
}

}  // namespace

TEST_CASE("DPFusion, unsharp mask: one group, in the tiles of the paper's Table 6") {
    Unsharp p;
    const Result r = schedule_by(Strategy::DPFusion, {p.masked}, p.sizes(4256, 2832));
    REQUIRE(r.report.plans.size() == 1);
    const autoschedule::Plan &plan = r.report.plans[0];
    CHECK(plan.members.size() == 2);
    CHECK(names(r.report.inlined) == std::set<std::string>{"blurx", "sharpen"});
    CHECK(plan.tile == Tile{256, 5, 3});
    CHECK(plan.levels[1] == autoschedule::Level::Tile);
    CHECK(plan.row_dim == -1);
    CHECK(plan.parallel);
}

TEST_CASE("DPFusion, Harris: one group of three stages, in tiles for L1") {
    HarrisOfGray p;
    const Result r = schedule_by(Strategy::DPFusion, {p.harris}, p.sizes());
    REQUIRE(r.report.plans.size() == 1);
    CHECK(r.report.plans[0].members.size() == 3);
    CHECK(r.report.inlined.size() == 8);
    CHECK(r.report.plans[0].tile == Tile{256, 10});  // 32 KiB / 3 buffers / 256 floats
    // Both derivatives read the same nine points.
    CHECK(r.report.plans[0].shares == std::vector<int>{-1, -1, 1});
    CHECK(r.report.text.find(", in the loops of i") != std::string::npos);
}

TEST_CASE("Loops are shared by members that read the same, and do not wait for each other") {
    Var x("x"), y("y"), u("u"), v("v");
    ImageParam in(Float(32), 2, "in");
    Func a("a");
    a(x, y) = in(x, y) + in(x + 1, y);
    auto shares = [&](const Func &b, int rows_below) {
        Func out("out");
        out(x, y) = a(x - 1, y) + a(x + 1, y) + b(x - 1, y + rows_below) + b(x + 1, y + rows_below);
        const Priced p = price(out, {{0, 999}, {0, 999}});
        const Machine machine = two_cores();
        const auto group = p.group({"a", b.name(), p.graph.nodes.back().name}, machine);
        auto plan = group.plan_of({{256, 20}, -1});
        REQUIRE(plan);
        group.share_loops(*plan);
        CHECK(plan->shares[0] == -1);
        CHECK(plan->shares[1] == -1);
        return plan->shares[2] == 1;
    };
    Func b("b"), renamed("renamed"), later("later"), shifted("shifted"), apart("apart"),
        wide("wide");
    b(x, y) = in(x + 1, y) * in(x + 2, y);
    CHECK(shares(b, 0));
    CHECK_FALSE(shares(b, 1));  // over other rows
    renamed(u, v) = in(u, v) - in(u + 1, v);
    CHECK_FALSE(shares(renamed, 0));  // loops of other names
    later(x, y) = in(x, y) + a(x, y) * in(x + 1, y);
    CHECK_FALSE(shares(later, 0));
    apart(x, y) = in(x + 7, y) + in(x + 8, y);
    CHECK_FALSE(shares(apart, 0));  // other elements
    wide(x, y) = cast<double>(in(x, y));
    CHECK_FALSE(shares(wide, 0));  // other vectors
}

TEST_CASE("DPFusion without one of its parts (Figure 8)") {
    HarrisOfGray p;
    const Priced harris = price(p.harris, {{0, 4253}, {0, 2829}});
    auto the_plan = [](const autoschedule::SearchResult &found) {
        REQUIRE(found.plans.size() == 1);
        return found.plans[0];
    };
    const auto all_stages = the_plan(fuse(harris, {.inlining = false}));
    CHECK(all_stages.members.size() == 11);
    CHECK(all_stages.tile == Tile{256, 23});  // 256 KiB / 11 buffers / 256 floats
    CHECK(all_stages.row_dim == 1);
    CHECK(all_stages.step == 2);  // 32 KiB / 11 buffers / 256 floats
    const auto one_level = the_plan(fuse(harris, {.inlining = false, .two_levels = false}));
    CHECK(one_level.tile == Tile{256, 23});
    CHECK(one_level.row_dim == -1);
    CHECK(the_plan(fuse(harris, {.tile_model = false})).tile == Tile{256, 32});
    CHECK(the_plan(fuse(harris, {.dynamic_programming = false})).members.size() == 3);
}

TEST_CASE("Greedy: nothing is inlined, all tiles have the same size") {
    HarrisOfGray p;
    const Result r = schedule_by(Strategy::Greedy, {p.harris}, p.sizes());
    CHECK(r.report.inlined.empty());
    for (const autoschedule::Plan &plan : r.report.plans) {
        CHECK(plan.tile == Tile{256, 32});
        CHECK(plan.row_dim == -1);
    }
}

TEST_CASE("Greedy: groups grow until the overlap is 0.4 of a tile") {
    // The stage that lies k stages before the output needs 2 k more rows and k more columns of a tile of
    // 32 x 256. Of n stages, the tiles overlap by the sum of (32 + 2 k)(256 + k) - 32 * 256.
    auto overlap = [](int n) {
        double sum = 0;
        for (int k = 0; k < n; k++)
            sum += (32 + 2 * k) * (256 + k) - 32 * 256;
        return sum / (n * 32 * 256);
    };
    int most = 1;
    while (overlap(most + 1) < 0.4)
        most++;
    const std::vector<Func> chain = stencils(20);
    const Result r =
        schedule_by(Strategy::Greedy, {chain.back()}, {{{{0, 4096}, {0, 4096}}}, {}, {}});
    size_t largest = 0;
    for (const autoschedule::Plan &plan : r.report.plans)
        largest = std::max(largest, plan.members.size());
    CHECK(largest == size_t(most));
}

TEST_CASE("Every strategy schedules what the papers do not have") {
    const Strategy strategy = GENERATE(from_range(std::begin(AutoscheduleOptions::strategies),
                                                  std::end(AutoscheduleOptions::strategies)));
    INFO(to_string(strategy));
    Var x("x"), y("y"), c("c");
    RDom r(0, 640, 0, 480), s(1, 255), k(0, 8);
    ImageParam in(UInt(8), 2, "in");
    Func copy = BoundaryConditions::repeat_edge(in);
    Func blurred("blurred"), histogram("histogram"), scan("scan"), sums("sums"), average("average"),
        gathered("gathered"), total("total"), thin("thin");
    blurred(x, y) = cast<uint16_t>(copy(x - 1, y)) + copy(x, y) + copy(x + 1, y + 1);
    histogram(x) = 0;
    histogram(clamp(cast<int32_t>(blurred(r.x, r.y)), 0, 255)) += 1;
    scan(x) = histogram(x);
    scan(s) += scan(s - 1);
    sums(x, y) = 0;
    sums(x, y) += cast<int32_t>(blurred(x + k, y)) * k;
    average(x, y) = (sums(x, y) + sums(x, y + 1)) / 56;
    gathered(x, y) = scan(clamp(average(x, y), 0, 255)) + blurred(x, y);
    total() = 0;
    total() += scan(k);
    thin(x, y, c) = gathered(x, y) + total() + c;
    const ScheduleSizes sizes = {
        {{{0, 640}, {0, 480}, {0, 1}}, {{0, 640}, {0, 480}}}, {{"in", {{0, 700}, {0, 500}}}}, {}};
    schedule_by(strategy, {thin, average}, sizes);
    const Result none = schedule_by(strategy, {thin, average}, {});  // sizes unknown
    CHECK(none.report.plans.size() >= 3);
    blurred.compute_root().vectorize(x, 8);
    average.compute_root();
    schedule_by(strategy, {thin, average}, sizes);
}

TEST_CASE("Every strategy gives the same answer again, and ends soon") {
    const Strategy strategy = GENERATE(from_range(std::begin(AutoscheduleOptions::strategies),
                                                  std::end(AutoscheduleOptions::strategies)));
    INFO(to_string(strategy));
    const std::vector<Func> chain = stencils(300);
    const ScheduleSizes sizes = {{{{0, 2000}, {0, 2000}}}, {}, {}};
    const Result first = schedule_by(strategy, {chain.back()}, sizes);
    const Result second = schedule_by(strategy, {chain.back()}, sizes);
    REQUIRE(first.report.plans.size() == second.report.plans.size());
    for (size_t i = 0; i < first.report.plans.size(); i++) {
        CHECK(first.report.plans[i].members == second.report.plans[i].members);
        CHECK(first.report.plans[i].tile == second.report.plans[i].tile);
        CHECK(first.report.plans[i].step == second.report.plans[i].step);
    }
    CHECK(first.report.groups_evaluated <= 3 * autoschedule::groups_within({}, xeon()));
}

namespace {

struct Enumeration {
    autoschedule::Dag dag;
    std::vector<bool> alone;

    long forward(int limit = 1000) const {
        return autoschedule::groups_grown_forward(dag, alone, limit, 100000);
    }
    long backward(int limit = 1000) const {
        autoschedule::GroupingLimits limits;
        limits.group_limit = limit;
        return autoschedule::group(
                   dag, [](const std::vector<int> &) { return 1.0; }, limits)
            .evaluated;
    }
};

Enumeration chain_of(int stages) {
    Enumeration result;
    for (int n = 1; n < stages; n++)
        result.dag.add_edge(n - 1, n);
    result.alone.assign(size_t(stages), false);
    return result;
}

Enumeration enumeration_of(const Priced &pipeline) {
    std::vector<int> nodes;
    Enumeration result;
    result.dag = autoschedule::dag_of(pipeline.graph, nodes);
    for (int n : nodes)
        result.alone.push_back(pipeline.graph.nodes[size_t(n)].has_updates());
    return result;
}

}  // namespace

TEST_CASE("The groups that Tables 1 and 9 count") {
    Unsharp unsharp;
    CHECK(enumeration_of(price(unsharp.masked, {{0, 99}, {0, 99}, {0, 2}})).forward() == 10);
    HarrisOfGray harris;
    CHECK(enumeration_of(price(harris.harris, {{0, 99}, {0, 99}})).forward() == 104);
    Enumeration bilateral_grid =
        chain_of(6);  // a reduction, three blurs, interpolation, and a point-wise stage
    bilateral_grid.alone[0] = true;
    CHECK(bilateral_grid.forward() == 16);
    // Multigrid: for groups of any size, of up to 32, 16 and 8 stages.
    const std::pair<int, std::vector<long>> multigrid[] = {{36, {666, 656, 456, 260}},
                                                           {37, {703, 688, 472, 268}},
                                                           {76, {2926, 1936, 1096, 580}},
                                                           {79, {3160, 2032, 1144, 604}}};
    for (const auto &[stages, counts] : multigrid) {
        const int limits[] = {1000, 32, 16, 8};
        for (size_t i = 0; i < counts.size(); i++) {
            CHECK(chain_of(stages).forward(limits[i]) == counts[i]);
            CHECK(chain_of(stages).backward(limits[i]) == counts[i]);
        }
    }
}

TEST_CASE("Groups of one live-out are fewer") {
    // Of unsharp mask, nothing that contains the blur without one of its two readers.
    Unsharp unsharp;
    CHECK(enumeration_of(price(unsharp.masked, {{0, 99}, {0, 99}, {0, 2}})).backward() == 8);
    // All subsets of two independent producers, with and without their reader; the common source only with both.
    Enumeration diamond;
    for (auto [from, to] : {std::pair{0, 1}, {0, 2}, {1, 3}, {2, 3}})
        diamond.dag.add_edge(from, to);
    diamond.alone.assign(4, false);
    CHECK(diamond.backward() == 8);  // 0, 1, 2, 3, 13, 23, 123, 0123
    CHECK(diamond.forward(1) == 4);
    CHECK(diamond.forward() == 10);  // 0, 1, 2, 3, 01, 02, 13, 23, 012, 0123
}
