// The demand at numbers against closed forms.

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "region/numeric_demand.h"
#include "support/region_plan.h"

using namespace Pipe;
using region::NumericDemand;
using test::Regions;
using Box = std::vector<poly::Range>;

namespace {

Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");

Box boxed(std::span<const poly::Range> ranges) {
    return {ranges.begin(), ranges.end()};
}

void set_size(NumericDemand &demand, int64_t width, int64_t height) {
    demand.set("out.min.0", 0), demand.set("out.min.1", 0);
    demand.set("out.extent.0", width), demand.set("out.extent.1", height);
}

/// out reads columns x - 1 to x + 2 and rows y to y + 2 of `in`, which is twice as fine as `coarse`.
struct Stencil {
    ImageParam image{Int(32), 2, "image"};
    Func coarse{"coarse"}, in{"in"}, out{"out"};
    Stencil() {
        coarse(x, y) = image(x, y) + 1;
        in(x, y) = coarse(x / 2, y / 2);
        out(x, y) = in(x - 1, y) + in(x + 2, y + 1) + in(x, y + 2);
        coarse.compute_root();
    }
};

}  // namespace

TEST_CASE("in one iteration of any loop around a stage", "[region]") {
    Stencil s;
    s.out.tile(x, y, xo, yo, xi, yi, 8, 4, TailStrategy::GuardWithIf);
    s.in.compute_at(s.out, yi);
    const Regions regions(s.out);
    NumericDemand demand(region::plan_regions(regions.tree));
    const FuncId out = regions.id("out"), in = regions.id("in"), coarse = regions.id("coarse");
    set_size(demand, 21, 10);
    demand.evaluate("");
    CHECK(boxed(demand.computed(out, 0)) == Box{{0, 20}, {0, 9}});
    CHECK(boxed(demand.computed(in, 0)) == Box{{-1, 22}, {0, 11}});
    CHECK(boxed(demand.computed(coarse, 0)) == Box{{-1, 11}, {0, 5}});
    CHECK(boxed(demand.image(0)) == Box{{-1, 11}, {0, 5}});
    CHECK(demand.loop(demand.level("out.s0.xo")) == poly::Range{0, 2});

    demand.set("out.s0.yo", 2), demand.set("out.s0.xo", 1), demand.set("out.s0.yi", 1);
    demand.evaluate("out.s0.yo");
    CHECK(boxed(demand.computed(out, 0)) == Box{{0, 20}, {8, 9}});
    demand.evaluate("out.s0.xo");
    CHECK(boxed(demand.computed(out, 0)) == Box{{8, 15}, {8, 9}});
    demand.evaluate("out.s0.yi");
    CHECK(boxed(demand.computed(out, 0)) == Box{{8, 15}, {9, 9}});
    CHECK(boxed(demand.computed(in, 0)) == Box{{7, 17}, {9, 11}});
    CHECK(boxed(demand.stored(in)) == Box{{7, 17}, {9, 11}});
    CHECK(boxed(demand.computed(coarse, 0)) == Box{{-1, 11}, {0, 5}});
    demand.set("out.s0.xo", 2);
    demand.evaluate("out.s0.yi");
    CHECK(boxed(demand.computed(in, 0)) == Box{{15, 22}, {9, 11}});
    demand.set("out.s0.xo", 3);  // there is no such tile
    demand.evaluate("out.s0.yi");
    CHECK(demand.computed(in, 0)[0].is_empty());
}

TEST_CASE("what a window keeps is needed, but not computed again", "[region]") {
    Stencil s;
    s.in.store_root().compute_at(s.out, y);
    const Regions regions(s.out);
    NumericDemand demand(region::plan_regions(regions.tree));
    const FuncId in = regions.id("in");
    set_size(demand, 20, 10);
    int64_t next = 0;
    for (int64_t row = 0; row < 10; row++) {
        demand.set("out.s0.y", row);
        demand.evaluate("out.s0.y");
        CHECK(boxed(demand.computed(in, 0)) == Box{{-1, 21}, {next, row + 2}});
        CHECK(boxed(demand.needed(in)) == Box{{-1, 21}, {row, row + 2}});
        CHECK(boxed(demand.stored(in)) == Box{{-1, 21}, {0, 11}});
        next = row + 3;
    }
    demand.evaluate("");
    CHECK(boxed(demand.computed(in, 0)) == Box{{-1, 21}, {0, 11}});
}

TEST_CASE("what depends on data is unbounded, what depends on sizes is not", "[region]") {
    Func table("table"), out("out");
    ImageParam image(Int(32), 1, "image");
    Param<int> offset("offset");
    table(x) = x * 3;
    out(x) = table(clamp(image(x), 0, offset)) + table(x + offset);
    table.compute_root();
    const Regions regions(out);
    NumericDemand demand(region::plan_regions(regions.tree));
    demand.set("out.min.0", 5), demand.set("out.extent.0", 10);
    demand.evaluate("");
    CHECK_FALSE(demand.computed(regions.id("table"), 0)[0].bounded());
    demand.set("offset", 7);
    demand.evaluate("");
    CHECK(boxed(demand.computed(regions.id("table"), 0)) == Box{{0, 21}});
    CHECK(demand.variable("nothing") == -1);
}
