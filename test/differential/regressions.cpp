// Bugs of loops, tails and storage that the random tests found, each as the smallest pipeline that
// showed it.
#include <pipe/pipe.h>

#include <vector>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include "differential/against_reference.h"
#include "support/guarded_memory.h"
#include "support/require_message.h"

using namespace Pipe;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi");

}  // namespace

// Region inference took the empty box of a Func without dimensions for "nobody reads it".
TEST_CASE("a Func without dimensions is read", "[differential]") {
    Func total("total"), f("f");
    RDom r(0, 5);
    total() = 0;
    total() += r * r;
    f(x, y) = x + y * total();
    check_against_reference<int>(f, {9, 3});
    total.compute_root();
    check_against_reference<int>(f, {9, 3});
}

// Where the steady state of a loop over tiles ends was said with a let from inside of the loop.
TEST_CASE("tiles of a pyramid", "[differential]") {
    Func down("down"), up("up"), out("out");
    down(x, y) = x * x + 3 * y;
    up(x, y) = down(x / 2, y / 2) + down((x + 1) / 2, (y + 1) / 2);
    out(x, y) = up(x / 2, y / 2) + up((x + 1) / 2, (y + 1) / 2);
    auto guard = TailStrategy::GuardWithIf;
    out.tile(x, y, xo, yo, xi, yi, 24, 10, guard).vectorize(xi, 16, guard).parallel(yo);
    up.compute_at(out, xo).vectorize(x, 16, guard);
    down.compute_at(out, xo).vectorize(x, 16, guard);
    check_against_reference<int>(out, {51, 27});
    check_against_reference<int>(out, {7, 1});
}

// What a fuse of a shifted loop writes was bounded by a quotient that does not cancel.
TEST_CASE("a fused loop over a split that shifts inwards", "[differential]") {
    Func f("f");
    Var fused("fused");
    f(x, y) = x + 10 * y;
    f.split(y, yo, yi, 2, TailStrategy::ShiftInwards).fuse(x, yi, fused);
    for (int width : {1, 2, 5})
        check_against_reference<int>(f, {width, 17});
}

// The bounds of a loop's steady state named masks that are bound inside of the loop.
TEST_CASE("nested splits under a vector with a guarded tail", "[differential]") {
    ImageParam in(Int(32), 1, "in");
    Func edge = BoundaryConditions::repeat_edge(in), f("f");
    f(x, y) = edge(x);
    f.split(x, xo, xi, 5).split(xi, yo, yi, 2);
    Var outer("outer"), lane("lane");
    f.split(yo, outer, lane, 4, TailStrategy::GuardWithIf).vectorize(lane);
    testing::GuardedBuffer image = noise<int>({{2, 9}});
    in.set(image.buffer);
    check_against_reference<int>(f, {17, 2});
}

// new - 4 < old became new < old + 4, which overflows where old is still the largest int.
TEST_CASE("a comparison of data does not overflow", "[differential]") {
    ImageParam image(Int(8), 1, "image");
    auto content = noise<int8_t>({{0, 12}});
    image.set(content.buffer);
    Func f("f");
    RDom r(0, 4);
    f(x) = argmin(r, cast<int>(image(x + r)) - 4)[0];
    check_against_reference<int>(f, {9});
}

// How far a split shifts inwards named the variable of its outer loop, which a second split takes
// apart inside the loop that the storage is hoisted to: it is not known there yet.
TEST_CASE("storage is hoisted out of a loop that is split twice", "[differential]") {
    Func producer("producer"), out("out");
    Var outer("outer"), inner("inner"), quad("quad"), of_quad("of_quad");
    producer(x, y) = x + 3 * y;
    producer(x, 0) = producer(x, 0) + producer(x, -1);
    out(x, y) = producer(x, y);
    out.split(y, outer, inner, 2, TailStrategy::ShiftInwards)
        .unroll(inner)
        .reorder(outer, inner, x)
        .split(outer, quad, of_quad, 2, TailStrategy::GuardWithIf);
    producer.compute_at(out, of_quad).hoist_storage(out, quad);
    for (int height : {2, 4, 11})
        check_against_reference<int>(out, {3, height});
}

// The window of an async Func that slides was taken to have room for all iterations; but where its
// memory is hoisted, the next row uses it again.
TEST_CASE("an async Func in hoisted storage waits for its reader", "[differential]") {
    Func producer("producer"), out("out");
    producer(x, y) = x * 3 + y * 100;
    out(x, y) = producer(x, y) + producer(x - 1, y);
    producer.compute_at(out, x).store_at(out, y).hoist_storage_root().async();
    for (int width : {1, 2, 40})
        check_against_reference<int>(out, {width, 30});
}

// What a blending tail stores again was read beyond the end of the row, where only the store was masked.
TEST_CASE("a tail that blends inside a tail that masks stores", "[differential]") {
    Func out("out");
    out(x, y) = cast<int8_t>(x + 3 * y);
    out.split(x, xo, xi, 8, TailStrategy::PredicateStores)
        .vectorize(xi)
        .split(y, yo, yi, 2, TailStrategy::ShiftInwardsAndBlend)
        .unroll(yi);
    // LLVM's passes take out some of the loads.
    for (Target target : {Target(), Target().with_feature(Target::QuickCompile)})
        for (int width : {8, 9, 29})
            check_against_reference<int8_t>(out, {width, 5}, target);
}

// LLVM crashes on loads of one or two bytes that are to bypass the caches.
TEMPLATE_TEST_CASE("non-temporal loads of small elements", "[differential]", int8_t, uint8_t,
                   int16_t, uint16_t) {
    Func producer("producer"), total("total"), out("out");
    RDom r(0, 5, "r");
    producer(x, y) = cast<TestType>(x * 7 + y);
    total(x, y) = cast<TestType>(0);
    total(x, y) += producer(x + r, y) % cast<TestType>(100);
    out(x, y) = cast<int>(total(x, y)) + cast<int>(producer(x, 0));
    producer.compute_root().load_nontemporal();
    total.compute_root().load_nontemporal().update().vectorize(x, 8, TailStrategy::GuardWithIf);
    for (Target target : {Target(), Target().with_feature(Target::QuickCompile)})
        for (int width : {1, 9, 64})
            check_against_reference<int>(out, {width, 3}, target);
}

// What bound_extent grows in each iteration of its compute level was not asked of its producers: g
// read what f had not computed, and used it as an index.
TEST_CASE("bound_extent inside a loop grows what producers compute", "[differential]") {
    Buffer<int> image(100);
    image.fill([](int i) { return i * i; });
    Func f("f"), g("g"), h("h");
    f(x) = clamp(1234567 / x, 0, 99) - 123456789;
    g(x) = image(f(x) + 123456789);
    h(x) = g(x);
    f.compute_root();
    h.vectorize(x, 8, TailStrategy::GuardWithIf);
    g.compute_at(h, x).bound_extent(x, 100);
    for (int width : {1, 8, 100})
        check_against_reference<int>(h, {width});
}

TEST_CASE("bound_extent promises the extent of each computation, not of all", "[differential]") {
    Param<int> size("size");
    Func f("f"), g("g");
    f(x) = x * x;
    g(x) = f(x) + 1;
    g.split(x, xo, xi, size, TailStrategy::GuardWithIf);
    f.compute_at(g, xo).bound_extent(x, 8).vectorize(x);
    for (int n : {1, 5, 8}) {
        size.set(n);
        for (int width : {1, 8, 20})
            check_against_reference<int>(g, {width});
    }
    size.set(10);
    require_message<RuntimeError>([&] { g.realize({20}); },
                                  {"f: dimension x", "from 0 to 7", "from 0 to 9"});
}

// To compare a window with the one before it took time that doubled with each Func of the chain.
TEST_CASE("a long chain of windows with clamps compiles", "[differential]") {
    constexpr int stages = 40;
    Func out("out");
    std::vector<Func> f(stages);
    f[0](x) = x % 2;
    for (int i = 1; i < stages; i++)
        f[i](x) = (f[i - 1](x - 1) + f[i - 1](min(x + 1, 20))) % 97;
    out(x) = f[stages - 1](x);
    for (Func &stage : f)
        stage.store_root().compute_at(out, x);
    check_against_reference<int>(out, {30});
}

// PredicateLoads: the coordinate was 0 where its load was masked, which is outside of the storage.
TEST_CASE("a masked load that says which element is written", "[differential]") {
    for (bool inside : {false, true}) {
        Buffer<uint8_t> image(8);
        image.fill(9);
        Func place("place"), f("f");
        Var u("u"), uo("uo"), ui("ui");
        place(x) = image(clamp(x, 0, 7));
        RDom r(-1, 3, -1, 1);
        f(x, y) = 0;
        f(clamp(cast<int>(place(0)) + r.x, 0, 4), y) += 4;
        Func part = f.update(0).rfactor({{r.x, u}});
        part.update(0).split(u, uo, ui, 2, TailStrategy::PredicateLoads);
        if (inside)
            place.compute_at(f.update(0), r.x);
        else
            part.compute_root();
        check_against_reference<int>(f, {15, 1});
        check_against_reference<int>(f, {1, 3});
    }
}

// The end of v5's loop is said by v4, which is no loop: it was split further.
TEST_CASE("hoisted storage inside a guarded split whose outer half is split again",
          "[differential]") {
    Var xoo("xoo"), xoi("xoi");
    Func f("f"), g("g");
    f(x, y) = x + 100 * y;
    g(x, y) = f(x / 2, y) + f(x, y);
    g.split(x, xo, xi, 2, TailStrategy::GuardWithIf).split(xo, xoo, xoi, 2);
    SECTION("at the outermost loop of the split") {
        f.compute_at(g, xi).hoist_storage(g, xoo);
    }
    SECTION("at root") {
        f.compute_at(g, xi).hoist_storage_root();
    }
    for (int width : {1, 2, 7, 33})
        check_against_reference<int>(g, {width, 3});
}

// At the outer loop's level less was needed than the lanes of one iteration read.
TEST_CASE("a producer computed in the inner loop of a split that another split rounds up",
          "[differential]") {
    for (bool condition : {false, true}) {
        Func f("f"), g("g"), h("h");
        Var xii("xii"), xio("xio");
        f(x, y) = x + 10 * y;
        g(x) = condition ? select(x < 8, f(x / 3, (x + 1) / 2), f(x, x + 2)) : f(x, x + 2);
        h(x, y) = g(x) + g(x + 2) + y;
        g.compute_root().split(x, xo, xi, 2).split(xi, xio, xii, 16, TailStrategy::RoundUp);
        g.vectorize(xii);
        f.compute_at(g, xio);
        for (int width : {1, 2, 7, 40})
            check_against_reference<int>(h, {width, 3});
    }
}

// Found by random directives (seed 3100005551): of a condition that was false from the beginning, the steady
// state of a loop around it kept what is left out, with names that it had replaced.
TEST_CASE("a loop that is parallel inside of lanes of an inlined Func with an update",
          "[differential]") {
    Var z("z"), v7("v7"), v8("v8"), v9("v9"), v10("v10");
    Func f("f"), g("g"), h("h");
    f(x, y, z) = x + 10 * y + 100 * z;
    RDom r(-1, 1, -1, 1);
    f(r.x, r.y, z) = f(r.x, r.y, z) + f(r.x - 2, r.y - 2, z);
    g(x, y) = f(x, y, 0) + f(x - 1, -2, y);
    h(x) = g(x, 0);
    h.compute_root();
    g.compute_at(h, x).bound_extent(x, 1);
    f.split(x, v7, v8, 2).split(v7, v9, v10, 2).vectorize(v10).reorder(v9, v8, y, v10, z);
    f.parallel(v9);
    for (int width : {1, 2, 7, 40})
        check_against_reference<int>(h, {width});
}

// Found by random directives (seed 4000041292): the loop of a guarded split ended early, where a split of one
// value inside of it had no test of its own, and what rounds that up went beyond the end: of the memory, too.
TEST_CASE("rounding up a loop of one iteration inside of a guarded split", "[differential]") {
    Var xio("xio"), xii("xii"), lane("lane"), step("step");
    for (int factor : {2, 5}) {
        for (int once : {1, 2, 4}) {
            INFO(factor << " " << once);
            Func f("f"), g("g");
            f(x, y) = x + 10 * y;
            g(x, y) = f(x, y) + f(x + 1, y);
            f.compute_root().split(x, xo, xi, factor, TailStrategy::GuardWithIf);
            f.split(xi, xio, xii, once).split(xii, step, lane, 2, TailStrategy::RoundUp);
            for (int width : {1, 2, 3, 7, 40})
                check_against_reference<int>(g, {width, 3});
        }
    }
}

// Each lane found its row of f4 in one and the same, folded row, which the last lane had computed
// (PIPE_FUZZ_SEED=4211012580).
TEST_CASE("a window outside of a vectorized loop in which it is computed", "[differential]") {
    Func row("row"), counts("counts");
    Var outer("outer"), lane("lane"), u("u");
    Param<int> p("p", 1);
    RDom r(-1, 9);
    row(x, y) = p - 4 + x + y;
    counts(x, y) = 0;
    counts(clamp(row(0, y + r), 0, 14), y) += 1;
    Func part = counts.update(0).rfactor({{r, u}});
    counts.update(0).split(y, outer, lane, 4).vectorize(lane);
    row.compute_at(part.update(0), u).store_root();
    for (int height : {1, 4, 25})
        check_against_reference<int>(counts, {15, height});
}

// The inner loop of a guarded split went around the outer one: beyond the end, eight elements were computed
// behind the memory for those that are needed (PIPE_FUZZ_SEED=4250033877).
TEST_CASE("a split that shifts inwards, where a guard leaves nothing to compute",
          "[differential]") {
    for (int factor : {2, 8}) {
        for (bool vectorized : {false, true}) {
            INFO(factor << (vectorized ? ", vectorized" : ""));
            Func producer("producer"), out("out");
            Var outer("outer"), inner("inner"), block("block"), lane("lane");
            producer(x, y) = x + 100 * y;
            out(x, y) = producer(x, y) + producer(x + 1, y);
            out.split(x, outer, inner, factor, TailStrategy::GuardWithIf)
                .split(outer, block, lane, 4, TailStrategy::GuardWithIf)
                .reorder(lane, block, inner, y);
            if (vectorized)
                out.vectorize(lane);
            producer.compute_at(out, block)
                .store_at(out, y)
                .split(x, xo, xi, 8, TailStrategy::ShiftInwards);
            for (int width : {1, 2, 3, 9, 40})
                check_against_reference<int>(out, {width, 2});
        }
    }
}

// What is aligned begins elsewhere in each definition: the first one set planes back that the update had
// computed (PIPE_FUZZ_SEED=4260015124).
TEST_CASE("the window of a Func with updates that is aligned", "[differential]") {
    for (int how = 0; how < 3; how++) {
        Func planes("planes"), sum("sum");
        RDom r(2, 3);
        Var plane("plane");
        planes(x, plane) = x;
        planes(x, plane) += plane;
        sum(x) = 0;
        sum(x) += planes(x, r);
        planes.compute_at(sum.update(), r).store_root();
        if (how == 0)
            planes.align_extent(plane, 3);
        if (how == 1)
            planes.align_bounds(plane, 3, 1);
        if (how == 2)
            planes.bound_extent(plane, 2);
        check_against_reference<int>(sum, {5});
    }
}

// The sums are in registers, in an allocation around the producer's task (PIPE_FUZZ_SEED=40006320).
TEST_CASE("an async producer inside of the loop of a sum", "[differential]") {
    Func producer("producer"), sum("sum");
    Var outer("outer"), lane("lane");
    RDom r(0, 16);
    producer(x) = x * 3;
    sum(x) = 0;
    sum(x) += producer(x + r);
    sum.update().split(x, outer, lane, 4).reorder(lane, r, outer).vectorize(lane);
    producer.compute_at(sum, r).store_at(sum, outer).async();
    check_against_reference<int>(sum, {9});
}

// Gathers whose number of lanes is no power of two: LLVM pads them, and let one overwrite its own index, an illegal
// instruction (PIPE_FUZZ_SEED=300017240, on AVX-512).
TEST_CASE("a vector of 176 lanes that gathers", "[differential]") {
    Buffer<int> table(100);
    table.fill([](int i) { return i * 7919 % 5003; });
    Func row("row"), least("least");
    Var fused("fused");
    RDom r(-1, 2);
    row(x) = cast<float>(table(clamp(x, 0, 99))) + cast<float>(x) - 4;
    least(x, y) = argmin(r, cast<int16_t>(cast<int>(clamp(row(x), -1000.0f, 1000.0f))) %
                                cast<int16_t>(1000))[0];
    row.compute_root();
    least.bound(y, 0, 21)
        .split(x, xo, xi, 16)
        .vectorize(xi)
        .parallel(xo)
        .split(y, yo, yi, 2, TailStrategy::Predicate)
        .fuse(yo, xi, fused);
    check_against_reference<int>(least, {16, 21});
}
