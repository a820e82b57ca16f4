// Schedules in, region plans out: demand, storage, tails and names.

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "region/plan_print.h"
#include "region/plan_verify.h"
#include "support/blur.h"
#include "support/golden.h"
#include "support/region_plan.h"

using namespace Pipe;
using test::Blur;

namespace {

Var x("x"), y("y"), c("c"), xo("xo"), yo("yo"), xi("xi"), yi("yi");

std::string plan_of(const Func &output) {
    const test::Regions regions(output);
    const region::RegionPlan plan = region::plan_regions(regions.tree);
    region::verify(plan);
    return region::to_string(plan);
}

}  // namespace

TEST_CASE("plan of overlapped tiles", "[golden]") {
    Blur b;
    b.by.tile(x, y, xo, yo, xi, yi, 64, 32).parallel(yo).vectorize(xi, 16);
    b.bx.compute_at(b.by, xo).vectorize(x, 16);
    CHECK_GOLDEN("region/overlapped_tiles.txt", plan_of(b.by));
}

TEST_CASE("plan of a sliding window", "[golden]") {
    Blur b;
    b.by.split(y, yo, yi, 32).parallel(yo).vectorize(x, 16);
    b.bx.store_at(b.by, yo).compute_at(b.by, yi).vectorize(x, 16);
    CHECK_GOLDEN("region/sliding_window.txt", plan_of(b.by));
}

TEST_CASE("plan of windows that slide along rows, and that do not slide", "[golden]") {
    ImageParam input(UInt(16), 2, "input");
    Func rows("rows"), flipped("flipped"), out("out");
    rows(x, y) = input(x, y) + 1;
    flipped(x, y) = input(x, y) + 2;
    out(x, y) = rows(x, y) + rows(x + 1, y) + flipped(x, select(y % 2 == 0, y, 10 - y));
    rows.store_root().compute_at(out, x);
    flipped.compute_at(out, y);
    CHECK_GOLDEN("region/rows.txt", plan_of(out));
}

TEST_CASE("plan of a ring buffer", "[golden]") {
    ImageParam input(UInt(16), 3, "input");
    Func load("load"), out("out");
    load(x, y, c) = input(x, y, c) + 1;
    out(x, y, c) = load(x, y, c) + load(x, y + 1, c);
    load.hoist_storage_root().store_at(out, c).compute_at(out, y).fold_storage(y, 4).ring_buffer(3);
    load.async();
    CHECK_GOLDEN("region/ring_buffer.txt", plan_of(out));
}

TEST_CASE("plan of every kind of tail", "[golden]") {
    ImageParam input(Float(32), 2, "input");
    Func shifted("shifted"), rounded("rounded"), sum("sum"), out("out");
    RDom r(0, 10, "r");
    RVar ro("ro"), ri("ri");
    shifted(x, y) = input(x, y) * 2.0f;
    rounded(x, y) = shifted(x, y) + 1.0f;
    sum(x, y) = 0.0f;
    sum(x, y) += rounded(x, y) * r;
    out(x, y) = sum(x, y);
    shifted.compute_root().split(x, xo, xi, 8);
    rounded.compute_root()
        .split(x, xo, xi, 8, TailStrategy::RoundUp)
        .split(y, yo, yi, 4, TailStrategy::GuardWithIf);
    sum.compute_root().split(x, xo, xi, 8, TailStrategy::PredicateStores).vectorize(xi);
    sum.update().split(r, ro, ri, 5).split(x, xo, xi, 8).vectorize(xi);
    out.split(x, xo, xi, 16).split(xi, xi, yi, 3);
    CHECK_GOLDEN("region/tails.txt", plan_of(out));
}

TEST_CASE("plan of stages that share a loop, aligned", "[golden]") {
    ImageParam input(Float(32), 2, "input");
    Func a("a"), b("b"), out("out");
    a(x, y) = input(x, y) + 1.0f;
    b(x, y) = input(x, y) * 2.0f;
    out(x, y) = a(x, y - 1) + b(x, y + 1);
    a.compute_root();
    b.compute_root().compute_with(a, y, LoopAlignStrategy::AlignStart);
    CHECK_GOLDEN("region/compute_with.txt", plan_of(out));
}

TEST_CASE("plan of a histogram and a prefetch", "[golden]") {
    ImageParam input(UInt(8), 2, "input");
    Func histogram("histogram"), out("out");
    RDom r(0, input.width(), 0, input.height(), "r");
    histogram(x) = 0;
    histogram(cast<int>(input(r.x, r.y))) += 1;
    histogram.compute_root();
    out(x, y) = histogram(cast<int>(input(x, y)));
    out.prefetch(input, y, y, 2);
    CHECK_GOLDEN("region/histogram.txt", plan_of(out));
}
