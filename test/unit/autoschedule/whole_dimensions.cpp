// Members that a group needs whole in some dimension: scans, tables, channels by blocks.
#include <algorithm>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "autoschedule/group_model.h"
#include "graph/check.h"
#include "pipelines.h"
#include "priced.h"
#include <pipe/pipe.h>

using namespace test;

namespace {

/// Maxima over 2^s rows, which updates compute from those over half as many, and columns of any height.
struct Columns {
    Var x{"x"}, y{"y"}, s{"s"};
    ImageParam input{Float(32), 2, "input"}, heights{UInt(8), 2, "heights"};
    RDom rows{0, input.height() + 9, "rows"};
    Func running{"running"}, tallest{"tallest"};

    Columns() {
        const Func in =
            BoundaryConditions::repeat_edge(input, {{0, input.width()}, {0, input.height()}});
        running(x, y, s) = in(x, y);
        for (int i = 1; i < 4; i++)
            running(x, rows, i) =
                max(running(x, rows, i - 1), running(x, rows + (1 << (i - 1)), i - 1));
        const Expr i = clamp(cast<int>(heights(x, y)), 0, 3);
        tallest(x, y) = max(running(x, y, i), running(x, y + 9 - (1 << i), i));
    }

    Result scheduled() const {
        return autoschedule_for(language::freeze({tallest}), {{{{0, 4000}, {0, 3000}}},
                                                              {{"input", {{0, 4000}, {0, 3000}}},
                                                               {"heights", {{0, 4000}, {0, 3000}}}},
                                                              {}});
    }
};

}  // namespace

TEST_CASE("what jumps along a dimension is computed in strips of the others", "[autoschedule]") {
    const Result r = Columns().scheduled();
    INFO(r.report.text);
    CHECK_NOTHROW(graph::check(graph::inline_funcs(r.graph, r.schedule), r.schedule));
    REQUIRE(r.report.plans.size() == 1);
    CHECK(r.report.plans[0].members.size() == 2);
    CHECK((4000 + r.report.plans[0].tile[0] - 1) / r.report.plans[0].tile[0] >= 4);  // strips
    CHECK(r.report.plans[0].tile[1] == 3000);
}

TEST_CASE("a scan within strips goes over their rows one after the other", "[autoschedule]") {
    const Result r = Columns().scheduled();
    INFO(r.report.text);
    const auto running = std::find_if(r.graph.funcs.begin(), r.graph.funcs.end(),
                                      [](const auto &f) { return f.name == "running"; });
    REQUIRE(running != r.graph.funcs.end());
    const auto &dims = r.schedule[running->id].stages[1].dims;
    REQUIRE(dims.size() == 3);
    CHECK(dims[0].kind == LoopKind::Vectorized);
    CHECK_FALSE(dims[1].is_reduction);
    CHECK(dims[2].is_reduction);
}

TEST_CASE("strips with whole columns compute what the definition says", "[autoschedule]") {
    Columns p;
    for (const auto &[width, height] : {std::array{300, 90}, std::array{33, 3}, std::array{1, 1}}) {
        INFO(width << " x " << height);
        Buffer<float> image(width, height);
        Buffer<uint8_t> which(width, height);
        image.fill([](int x, int y) { return float((x * 37 + y * 11) % 101); });
        which.fill([](int x, int y) { return uint8_t((x + 3 * y) % 7); });
        p.input.set(image), p.heights.set(which);
        Pipeline pipeline(p.tallest);
        pipeline.autoschedule(get_host_target());
        Buffer<float> got(width, height), want(width, height);
        pipeline.realize(got);
        pipeline.realize_reference(want);
        int64_t wrong = 0;
        got.for_each_element([&](int x, int y) { wrong += got(x, y) != want(x, y); });
        CHECK(wrong == 0);
    }
}

TEST_CASE("an update that jumps is never cut along the dimension it jumps in", "[autoschedule]") {
    Columns p;
    const Priced g = price(p.tallest, {{0, 999}, {0, 799}},
                           {{"input.min.0", poly::Range::point(0)},
                            {"input.extent.0", poly::Range::point(1000)},
                            {"input.min.1", poly::Range::point(0)},
                            {"input.extent.1", poly::Range::point(800)}});
    const Machine machine = two_cores();
    const auto group = g.group({"tallest", "running"}, machine);
    const auto strips = group.evaluate({{100, 800}, -1});
    CHECK(std::isfinite(strips.total));
    // four maxima for each of 100 columns by 809 rows, kept at once
    CHECK(strips.scratch_bytes == Catch::Approx(4 * 100 * 809 * 4).epsilon(0.01));
    CHECK(strips.redundancy == Catch::Approx(0).margin(0.01));
    // What a tile of rows needs is known of no row: all of them are computed for each.
    CHECK(group.evaluate({{1000, 100}, -1}).redundancy > 5);
}

TEST_CASE("scratch of a tile lies in the shared cache however large the images are",
          "[autoschedule]") {
    Columns p;
    Func widest("widest");
    RDom r(-20, 41, "r");
    widest(p.x, p.y) = maximum(p.running(p.x + r, p.y, clamp(cast<int>(p.heights(r, 0)), 0, 3)));
    const Priced g = price(widest, {{0, 3999}, {0, 2999}},
                           {{"input.min.0", poly::Range::point(0)},
                            {"input.extent.0", poly::Range::point(4000)},
                            {"input.min.1", poly::Range::point(0)},
                            {"input.extent.1", poly::Range::point(3000)}});
    Machine machine = two_cores();
    auto overhead = [&] {
        const auto group = g.group({"widest", "widest_maximum", "running"}, machine);
        const autoschedule::Cost cost = group.evaluate({{128, 3000}, -1});
        CHECK(cost.scratch_bytes > machine.l2_bytes);
        CHECK(cost.scratch_bytes < machine.l3_bytes / 2);
        return cost.overhead;
    };
    const double with_cache = overhead();
    // Streams of the images begin 32 times per row; the maxima stay in the cache.
    machine.stream_start += 1000;
    CHECK(overhead() - with_cache < 1000.0 * 3 * 32 * 3100);
}

TEST_CASE("channels in blocks: a tile of whole blocks needs no other blocks", "[autoschedule]") {
    Var c("c"), x("x"), lane("lane"), block("block");
    ImageParam in(Float(32), 3, "in");
    Func blocked("blocked"), out("out");
    blocked(lane, x, block) = in(lane, x, block) * 2.0f + in(lane, x + 1, block);
    out(c, x) = blocked(c % 32, x, c / 32);
    const Priced g = price(out, {{0, 255}, {0, 99}});
    const Machine machine = two_cores();
    const auto group = g.group({"out", "blocked"}, machine);
    CHECK(group.evaluate({{32, 100}, -1}).redundancy == Catch::Approx(0).margin(1e-9));
    CHECK(group.evaluate({{64, 10}, -1}).redundancy == Catch::Approx(0).margin(1e-9));
    CHECK(group.evaluate({{48, 100}, -1}).redundancy > 0.2);  // half a block too much
    // Vectors of 16 lanes lie within a block: they are loaded as such.
    const auto &load = g.node("out").stages[0].loads[0];
    CHECK(autoschedule::lanes_of(load, 16) == autoschedule::Lanes::Steps);
    CHECK(autoschedule::lanes_of(load, 64) == autoschedule::Lanes::Apart);
}

TEST_CASE("vectors of tuples have the lanes of their widest element", "[autoschedule]") {
    Var x("x");
    ImageParam in(Float(32), 2, "in");
    RDom r(0, 100, "r");
    Func sums("sums");
    sums(x) = Tuple(0.0f, 0.0f);
    const Expr value = in(x, r);
    sums(x) = Tuple(sums(x)[0] + value, sums(x)[1] + value * value);
    const Priced g = price(sums, {{0, 63}});
    CHECK(g.node("sums").bytes == 8);
    CHECK(g.node("sums").widest == 4);
    Machine machine = two_cores();
    machine.vector_registers = 32;
    const auto block =
        autoschedule::register_block(g.node("sums"), 1, g.node("sums").extents, machine, 1);
    REQUIRE(block);
    CHECK(block->lanes == 16);
}

TEST_CASE("blocks leave work for all cores", "[autoschedule][register_block]") {
    Var x("x"), y("y");
    ImageParam in(Float(32), 3, "in");
    RDom r(0, 3000, "r");
    Func sums("sums");
    sums(x, y) = 0.0f;
    sums(x, y) += in(x, y, r);
    const Priced g = price(sums, {{0, 15}, {0, 7}});
    Machine machine = two_cores();
    machine.vector_registers = 32;
    for (int cores : {1, 2, 4, 8}) {
        INFO(cores << " cores");
        const auto block =
            autoschedule::register_block(g.node("sums"), 1, g.node("sums").extents, machine, cores);
        REQUIRE(block);
        CHECK(block->rows_dim == (cores == 8 ? -1 : 1));
        CHECK(8 / block->rows >= cores);
    }
}
