// Bugs of updates over an RDom: accumulators, rfactor, vectorized sums, predicates.
#include <pipe/pipe.h>

#include <map>
#include <string_view>

#include <catch2/catch_test_macros.hpp>

#include "differential/against_reference.h"
#include "support/guarded_memory.h"

using namespace Pipe;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi");

}  // namespace

// The inner loop went on into the points of the next outer iteration.
TEST_CASE("an update runs once per point where a split of a split rounds up", "[differential]") {
    Var xo("xo"), xi("xi"), outer("outer"), inner("inner");
    Func sum("sum"), out("out");
    sum(x) = 0;
    sum(x) += 1;
    out(x) = sum(x);
    sum.compute_root();
    sum.update()
        .split(x, xo, xi, 8, TailStrategy::RoundUp)
        .split(xi, outer, inner, 3, TailStrategy::RoundUp);
    CHECK(wrong_elements(out, {{{0, 20}}}) == 0);
}

// The accumulators' outer iterations, of which the last is left out, are a condition too.
TEST_CASE("a factor computed at the split loop of an update with accumulators of its own",
          "[differential]") {
    Var u("u"), v("v"), vo("vo"), vi("vi");
    Func f("f");
    RDom r(-1, 9, -1, 1, "r");
    RVar fused("fused"), outer("outer"), lane("lane"), oo("oo"), oi("oi");
    f(x, y) = 0;
    f(clamp(y + r.x, 0, 0), y) += 1;
    Func part = f.update(0).rfactor({{r.x, u}, {r.y, v}});
    f.update(0).fuse(r.x, r.y, fused).split(fused, outer, lane, 4).vectorize(lane);
    f.update(0).split(outer, oo, oi, 2);
    part.compute_at(f.update(0), oi).store_at(f.update(0), y);
    part.align_bounds(y, 2, 0).split(v, vo, vi, 2);
    CHECK(wrong_elements(f, {{{0, 1}, {0, 1}}}) == 0);
    CHECK(wrong_elements(f, {{{-2, 7}, {-3, 5}}}) == 0);
}

// Nested ifs were merged to one &&: the where's loads ran for lanes beyond the guard of the tail.
TEST_CASE("a where that reads an image runs under the guard of the tail", "[differential]") {
    for (int lanes : {4, 8, 16}) {
        ImageParam a(Int(8), 2, "a"), b(UInt(32), 1, "b");
        Func f("f"), g("g");
        RDom r(2, 4, 1, 3);
        r.where(cast<int>(a(-2 - x, r.x)) != cast<int>(b(x + r.x)));
        f(x) = cast<int16_t>(x);
        f(x) = max(f(x), cast<int16_t>(r.x));
        g(x) = f(x);
        f.compute_root();
        f.update(0)
            .split(x, xo, xi, lanes, TailStrategy::GuardWithIf)
            .reorder(xi, r.x, r.y, xo)
            .vectorize(xi);
        testing::GuardedBuffer left = noise<int8_t>({{-14, 13}, {2, 4}});
        testing::GuardedBuffer right = noise<uint32_t>({{2, 16}});
        a.set(left.buffer);
        b.set(right.buffer);
        check_against_reference<int16_t>(g, {13});
    }
}

// The loops of a Func inside a vectorized loop start at another place in each lane; the name of that
// place hid the minimum of the Func's storage where that had a name of its own.
TEST_CASE("a Func with updates inside a vectorized loop", "[differential]") {
    Func inner("inner"), tile("tile"), out("out");
    inner(x) = 0;
    inner(x) += x * x;
    tile(x) = inner(x - 2) * 3 + inner(x / 2) * 5;
    out(x) = tile(x);
    out(x) = tile(x) + tile(x - 2);
    tile.compute_root().split(x, xo, xi, 4).vectorize(xi);
    for (int width : {1, 5, 9, 32})
        check_against_reference<int>(out, {width});
}

// A vectorized loop over an RVar makes a new Func, which got only some of the loops at which others are
// computed: 'outer' was produced inside 'inner', which reads it.
TEST_CASE("Funcs computed at the loops of a vectorized reduction", "[differential]") {
    RVar ro("ro"), ri("ri");
    Func outer("outer"), inner("inner"), out("out");
    RDom r(-1, 6, "r");
    outer(x) = x * 7;
    inner(x, y) = outer(y) + x;
    out(x) = 0;
    out(x) = max(out(x), inner(x, r) + outer(x));
    out.update(0).split(r, ro, ri, 4).vectorize(ri).reorder(ri, x, ro);
    inner.compute_at(out.update(0), x);
    outer.compute_at(out.update(0), ro);
    for (int width : {1, 5, 16})
        check_against_reference<int>(out, {width});
}

// A vectorized reduction makes lanes of its own; the where() was evaluated in lanes beyond the RDom.
TEST_CASE("a where that reads an image runs in the lanes of the RDom only", "[differential]") {
    RVar ro("ro"), ri("ri");
    ImageParam in(Int(32), 2, "in");
    RDom r(-1, 3, "r");
    r.where(in(x, r) < in(x, r / 2) + 1);
    Func f("f");
    f(x) = 0;
    f(x) += x + r;
    f.update(0).split(r, ro, ri, 4).vectorize(ri);
    for (int width : {1, 6}) {
        testing::GuardedBuffer image = noise<int>({{0, width}, {-1, 3}});
        in.set(image.buffer);
        check_against_reference<int>(f, {width});
    }
}

// Of a vectorized reduction's loops, those that stand between the new Func and the one it was made of
// stayed where they were, with what is computed in them.
TEST_CASE("a Func computed at an unrolled loop around a vectorized reduction", "[differential]") {
    RVar ro("ro"), ri("ri");
    Func producer("producer"), f("f");
    RDom r(0, 5, "r");
    producer(x) = x * 3;
    f(x) = x;
    f(x) += producer(x) + producer(-2) * r;
    f.update(0)
        .split(r, ro, ri, 4)
        .vectorize(ri)
        .split(x, xo, xi, 2, TailStrategy::GuardWithIf)
        .unroll(xi);
    producer.compute_at(f.update(0), xi);
    for (int width : {1, 2, 9})
        check_against_reference<int>(f, {width});
}

// What combines the parts read the image that says which element is written beyond the RDom.
TEST_CASE("rfactor that preserves both loops of a split", "[differential]") {
    RVar ro("ro"), ri("ri");
    Var u("u"), v("v");
    ImageParam in(Int(32), 1, "in");
    testing::GuardedBuffer image = noise<int>({{-1, 5}});
    in.set(image.buffer);
    Buffer<int> expected(8);
    Func f("f");
    for (bool factored : {false, true}) {
        f = Func("f");
        RDom r(-1, 5, "r");
        f(x) = 0;
        f(clamp(in(r), 0, 7)) += r + 2;
        if (factored)
            f.update().split(r, ro, ri, 2).rfactor({{ro, u}, {ri, v}}).compute_root();
        else
            f.realize(expected);
    }
    Buffer<int> got = f.realize({8});
    int wrong = 0;
    for (int i = 0; i < 8; i++)
        wrong += got(i) != expected(i);
    CHECK(wrong == 0);
}

// The new Func's Vars may be bound to more than the loops that they stand for: what lies below read
// beyond the RDom, where only what lies above was guarded.
TEST_CASE("rfactor of a Func whose new Var is bound to more than the loop", "[differential]") {
    RVar ro("ro"), ri("ri"), rfused("rfused");
    Var u("u"), v("v");
    ImageParam in(Int(32), 1, "in");
    RDom r(3, 2, "r");
    Func f("f"), part;
    f(x) = x;
    f(x) += in(r) * (x + r);
    SECTION("the outer loop of a split") {
        part = f.update().split(r, ro, ri, 1200).rfactor(ro, u);
        part.align_bounds(u, 5, 1);
    }
    SECTION("the inner one") {
        part = f.update().split(r, ro, ri, 5).rfactor(ri, u);
        part.align_bounds(u, 1 << 13, 1 << 12);
    }
    SECTION("both") {
        part = f.update().split(r, ro, ri, 5).rfactor({{ro, u}, {ri, v}});
        part.bound(u, -200, 400).bound(v, -1000, 2000);
    }
    SECTION("both, fused") {
        part = f.update().split(r, ro, ri, 5).fuse(ro, ri, rfused).rfactor(rfused, u);
        part.bound(u, -6000, 9000);
    }
    part.compute_root();
    for (bool at_start : {false, true}) {
        testing::GuardedBuffer image(Int(32), {{3, 2}}, 0, at_start);
        Buffer<int>(image.buffer).fill(7);
        in.set(image.buffer);
        check_against_reference<int>(f, {5});
    }
}

// What combines the parts of the second rfactor wrote where the first one's guard keeps from: past the storage.
TEST_CASE("rfactor of what rfactor made of a split that does not divide", "[differential]") {
    RVar xo("xo"), xi("xi"), zo("zo"), zi("zi");
    Var u("u"), v("v"), w("w"), u2("u2");
    Func f("f"), g("g"), part;
    RDom r(1, 5, 2, 2, "r");
    f(x, y) = 0;
    SECTION("a place") {
        f(r.x - 2, y) += r.y;
    }
    SECTION("a place that is clamped") {
        f(clamp(r.x - 2, 0, 4), y) += r.y;
    }
    g(x, y) = f(x * 2, y - 1) + f(x + 2, y + 1);
    part =
        f.update().split(r.x, xo, xi, 2).split(r.y, zo, zi, 3).rfactor({{xo, u}, {xi, v}, {zi, w}});
    part.update().rfactor(zo, u2).compute_root();
    for (bool root : {false, true}) {
        if (root)
            part.compute_root();
        else
            part.compute_at(g, y);
        check_against_reference<int>(g, {23, 6});
    }
}

// The accumulators of one point had the split of x again: a whole factor of values for each point.
TEST_CASE("accumulators inside of split loops are those of one point", "[differential]") {
    ImageParam in(Int(32), 2, "in");
    for (TailStrategy tail :
         {TailStrategy::ShiftInwardsAndBlend, TailStrategy::RoundUp, TailStrategy::GuardWithIf})
        for (std::string_view then : {"", "rename", "fuse"}) {
            Func f("f"), g("g");
            RDom r(-1, 2, -1, 2);
            RVar ro("ro"), ri("ri");
            Var xii("xii");
            f(x, y) = 7;
            f(x, y) += in(x, y) * r.x + r.y;
            g(x, y) = f(x, y);
            f.update(0).split(r.x, ro, ri, 4).vectorize(ri).split(x, xo, xi, 16, tail);
            if (then == "rename")
                f.update(0).rename(xi, xii);
            if (then == "fuse")
                f.update(0).fuse(xi, xo, xii);
            for (int width : {2, 17}) {
                // What one value of g needs is rounded up once.
                int beyond = tail == TailStrategy::GuardWithIf ? 0 : 15;
                testing::GuardedBuffer image = noise<int>({{0, width + beyond}, {0, 3}});
                in.set(image.buffer);
                check_against_reference<int>(g, {width, 3});
            }
        }
}

// Where f is computed, and so its part, depends on which specialization of g runs.
TEST_CASE("rfactor of a Func without level that a specialized Func reads", "[differential]") {
    Param<int> n("n");
    for (int value : {1, 5}) {
        n.set(value);
        Func f("f"), g("g"), h("h");
        Var u("u"), v("v"), xii("xii"), xio("xio");
        RDom r(-1, 4);
        RVar ro("ro"), ri("ri");
        f(x) = x;
        f(x) += r * x;
        g(x, y) = f(x) + y;
        h(x, y) = g(x, y) * 2;
        f.update(0).split(r, ro, ri, 2).rfactor({{ro, u}, {ri, v}});
        f.update(0).reorder(x, ro, ri).parallel(ri);  // with accumulators of its own for each
        g.compute_root().split(x, xo, xi, 2);
        g.specialize(n > 3).split(xi, xio, xii, 2);
        check_against_reference<int>(h, {7, 3});
        check_against_reference<int>(h, {1, 1});
    }
}

// The accumulators' own Func was given one loop for the two of the split.
TEST_CASE("storage at the inner loop of a split around accumulators of vector lanes",
          "[differential]") {
    for (bool renamed : {false, true}) {
        Func f("f"), g("g");
        Var xii("xii");
        RDom r(-1, 2, -1, 6);
        RVar ro("ro"), ri("ri");
        g(x, y) = x * y + 3;
        f(x, y) = 7;
        f(x, y) += g(x, r.y) * r.x + y;
        f.update(0).split(r.y, ro, ri, 4).vectorize(ri).split(x, xo, xi, 3);
        if (renamed)
            f.update(0).rename(xi, xii);
        Var inner = renamed ? xii : xi;
        f.update(0).reorder(ri, ro, xo, inner, r.x, y);
        g.compute_at(f.update(0), ro).store_at(f.update(0), inner);
        for (int width : {1, 2, 7})
            check_against_reference<int>(f, {width, 3});
    }
}

// It is read by the accumulators' own Func, which stands before all loops of the update.
TEST_CASE("a Func computed outside of all loops of an update with accumulators", "[differential]") {
    for (bool inside : {false, true}) {
        Func f("f"), g("g");
        RDom r(-1, 2, -1, 6);
        g(x, y) = x * y + 3;
        f(x, y) = 7;
        f(x, y) += g(x, r.y) * r.x + y;
        f.update(0).parallel(r.y);
        if (inside)
            f.update(0).reorder(r.x, r.y, x, y);
        else
            f.update(0).reorder(r.x, x, y, r.y);
        g.compute_at(f.update(0), Var::outermost());
        for (int width : {1, 2, 7})
            check_against_reference<int>(f, {width, 3});
    }
}

// How far the lanes of an update lie apart is known only as the program runs: where it is 0, all add to one
// element, and none may miss what the others add.
TEST_CASE("a vectorized update whose lanes meet in one element", "[differential]") {
    Func f("f"), g("g");
    g(x) = x + 1;
    g.compute_root();
    SECTION("in one row of two") {
        RDom r(0, 8, 0, 2);
        f(x) = 0;
        f(r.x * r.y) += g(r.x);
        f.update().atomic().vectorize(r.x, 8);
        check_against_reference<int>(f, {8});
    }
    SECTION("by a Param") {
        Param<int> step("step");
        RDom r(0, 8);
        f(x) = 0;
        f(r * unsafe_promise_clamped(step, 0, 3)) += g(r);
        f.update().atomic().vectorize(r, 8);
        for (int by : {0, 1, 3}) {
            step.set(by);
            check_against_reference<int>(f, {22});
        }
    }
    SECTION("of a Tuple") {
        RDom r(0, 8, 0, 2);
        f(x) = Tuple(0, 1);
        f(r.x * r.y) = Tuple(f(r.x * r.y)[0] + g(r.x), max(f(r.x * r.y)[1], g(r.x)));
        f.update().atomic().vectorize(r.x, 8);
        Func sum("sum");
        sum(x) = f(x)[0] * 1000 + f(x)[1];
        f.compute_root();
        check_against_reference<int>(sum, {8});
    }
}

// Found by random schedules (seed 2950018269). The accumulators of r.x were put inside of y, which is parallel
// and which stood inside of r.y and x. So threads shared what had been stored around y.
TEST_CASE("memory around a parallel loop stays around it where an RVar is parallel, too",
          "[differential]") {
    Var x("x"), y("y");
    for (bool window : {false, true}) {
        for (bool async : {false, true}) {
            INFO((window ? "a window" : "hoisted") << (async ? ", async" : ""));
            Func f("f"), sum("sum");
            RDom r(-1, 5, -1, 4, "r");
            f(x, y) = x * 7 + y * 3;
            sum(x, y) = 0;
            sum(x, y) += (f(x + r.y, y) + r.x) % 1000;
            sum.update().reorder(r.x, y, x, r.y).parallel(y).parallel(r.x);
            f.in().compute_at(sum.update(), r.x);
            f.compute_at(sum.update(), x);
            if (window)
                f.store_at(sum.update(), r.y);
            else
                f.hoist_storage_root();
            if (async)
                f.async();
            Pipeline pipeline(sum);
            for (int i = 0; i < 10; i++)
                REQUIRE(wrong_elements(pipeline, {{{0, 4}, {-2, 26}}}) == 0);
        }
    }
}

// The guard of the outer split relied on a promise that only the guard of the inner split keeps, and was evaluated
// where that one does not hold.
TEST_CASE("guards of a split of a split, in one rfactor or two", "[differential]") {
    Var u("u"), v("v"), w("w"), z("z");
    RVar yo("yo"), yi("yi"), io("io"), ii("ii");
    for (bool twice : {false, true}) {
        Func f("f");
        RDom r(-1, 2, -1, 10, "r");
        f(x) = 0;
        f(r.x * r.y) += r.y + 2;
        Func part;
        f.update().split(r.y, yo, yi, 3);
        if (twice) {
            part = f.update().rfactor(yo, u);
            part.update().split(yi, io, ii, 2).rfactor({{r.x, v}, {io, w}, {ii, z}}).compute_root();
        } else {
            part = f.update().split(yi, io, ii, 2).rfactor({{yo, u}, {io, v}, {ii, w}});
        }
        part.compute_root();
        std::map<int, int> expected;
        for (int i = -1; i < 1; i++)
            for (int j = -1; j < 9; j++)
                expected[i * j] += j + 2;
        Buffer<int> compiled(20), reference(20);
        for (Buffer<int> *out : {&compiled, &reference})
            out->set_min(-10);
        f.realize(compiled);
        Pipeline(f).realize_reference(Realization({reference}));
        for (int i = -10; i < 10; i++) {
            CHECK(compiled(i) == expected[i]);
            CHECK(reference(i) == expected[i]);
        }
    }
}
