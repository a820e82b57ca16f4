// Bugs that the random tests found, each as the smallest pipeline that showed it: what is compiled
// must equal the reference.
#include <pipe/pipe.h>

#include <string_view>
#include <vector>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include "support/guarded_memory.h"
#include "support/require_message.h"

using namespace Pipe;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi");

/// Compares over width x height (or width), in memory that ends at a page that may not be touched.
template <typename T>
void check_against_reference(Pipeline pipeline, std::vector<int> extents,
                             const Target &target = Target()) {
    std::vector<std::pair<int, int>> shape;
    for (int extent : extents)
        shape.emplace_back(0, extent);
    testing::GuardedBuffer got(type_of<T>(), shape, 0, false),
        expected(type_of<T>(), shape, 0, false);
    testing::GuardedContext context;
    pipeline.realize(&context, Realization(got.buffer), target);
    CHECK(context.overrun() == 0);
    pipeline.realize_reference(expected.buffer);
    int64_t wrong = 0;
    Buffer<T>(got.buffer)
        .for_each_value([&](T &a, T &b) { wrong += a != b; }, Buffer<T>(expected.buffer));
    CHECK(wrong == 0);
}

template <typename T> testing::GuardedBuffer noise(const std::vector<std::pair<int, int>> &shape) {
    testing::GuardedBuffer image(type_of<T>(), shape, 0, false);
    uint32_t state = 1;
    Buffer<T>(image.buffer).for_each_value([&](T &value) {
        state = state * 1664525 + 1013904223;
        value = static_cast<T>(state >> 24);
    });
    return image;
}

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

// The guest of compute_with was produced with its host, after a stage between them had read it.
TEST_CASE("a stage that reads a guest of compute_with runs after it", "[differential]") {
    Func host("host"), guest("guest"), reader("reader"), out("out");
    guest(x, y) = x * 3 + y;
    reader(x, y) = guest(x, y - 2) + 1;
    host(x, y) = x - y;
    out(x, y) = host(x, y - 2) + reader(x, y) + host(x, y);
    host.compute_root();
    reader.compute_root();
    guest.compute_root().compute_with(host, y);
    check_against_reference<int>(out, {13, 7});
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

// A select's condition narrowed the region at the storage's level, but not at the level of the
// computation, where its variable is one point: more was computed than there was room for.
TEST_CASE("a window under a select stays inside its storage", "[differential]") {
    ImageParam in(Int(32), 2, "in");
    Func producer("producer"), f("f");
    producer(x, y) = in(x, y) + 1;
    f(x) = select(x == 6, producer(x * 2, x + 2), producer(x, 4));
    producer.compute_at(f, x).store_root();
    // As much of the input as the definition reads, and no more.
    testing::GuardedBuffer image = noise<int>({{0, 19}, {4, 5}});
    in.set(image.buffer);
    check_against_reference<int>(f, {19});
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

// The loops of a Func inside a vectorised loop start at another place in each lane; the name of that
// place hid the minimum of the Func's storage where that had a name of its own.
TEST_CASE("a Func with updates inside a vectorised loop", "[differential]") {
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

// A vectorised loop over an RVar makes a new Func, which got only some of the loops at which others are
// computed: 'outer' was produced inside 'inner', which reads it.
TEST_CASE("Funcs computed at the loops of a vectorised reduction", "[differential]") {
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

// A vectorised reduction makes lanes of its own; the where() was evaluated in lanes beyond the RDom.
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

// Of a vectorised reduction's loops, those that stand between the new Func and the one it was made of
// stayed where they were, with what is computed in them.
TEST_CASE("a Func computed at an unrolled loop around a vectorised reduction", "[differential]") {
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

// A Func that only an unused element of a Tuple reads is not computed; that it reads others kept these
// in the checks of compute_at.
TEST_CASE("an unused element of an inlined Tuple leaves no reader behind", "[differential]") {
    Func shared("shared"), unused("unused"), both("both"), out("out");
    RDom r(0, 3, "r");
    shared(x) = x * 7;
    unused(x) = 0;
    unused(x) += shared(r);
    both(x) = Tuple(shared(x), unused(x));
    out(x) = both(x)[0];
    out.split(x, xo, xi, 4, TailStrategy::GuardWithIf);
    shared.compute_at(out, xo);
    for (int width : {1, 4, 9})
        check_against_reference<int>(out, {width});
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

// In iterations of a shared loop in which one stage does nothing, what it reads was computed from
// where it would stand: before the first row of the input.
TEST_CASE("what is computed in a shared loop keeps to its reader's range", "[differential]") {
    ImageParam in(Int(32), 2, "in");
    for (LoopAlignStrategy align : {LoopAlignStrategy::AlignEnd, LoopAlignStrategy::AlignStart}) {
        Func f("f"), g("g"), h("h");
        f(x, y) = in(x, y) * x + 3 * y;
        g(x, y) = f(x, y) + 1;
        h(x, y) = x + y;
        g.split(y, yo, yi, 2);
        h.split(y, yo, yi, 2).compute_with(g, yo, align);
        f.compute_at(g, yo);
        Buffer<int> small(5, 3), tall(5, 4000);
        testing::GuardedBuffer image = noise<int>({{0, 5}, {0, 3}});
        in.set(image.buffer);
        Pipeline({g, h}).realize({small, tall});
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 5; i++)
                CHECK(small(i, j) == Buffer<int>(image.buffer)(i, j) * i + 3 * j + 1);
        CHECK(tall(4, 3999) == 4003);
    }
}

// Behind the guest's last outer iteration its inner loop has no iterations: the place counted back from there.
TEST_CASE("what is computed in a shared inner loop keeps to its reader's range", "[differential]") {
    ImageParam in(Int(32), 1, "in");
    Func f("f"), g("g"), h("h");
    f(x) = in(x)*3;
    g(x) = f(x) + 1;
    h(x) = x;
    h.split(x, xo, xi, 16, TailStrategy::GuardWithIf);
    g.split(x, xo, xi, 16, TailStrategy::GuardWithIf).compute_with(h, xi);
    f.compute_at(g, xi);
    Buffer<int> small(5), wide(90000);
    for (bool at_start : {false, true}) {
        testing::GuardedBuffer image(Int(32), {{0, 5}}, 0, at_start);
        Buffer<int>(image.buffer).fill([](int i) { return i * i; });
        in.set(image.buffer);
        Pipeline({g, h}).realize({small, wide});
        for (int i = 0; i < 5; i++)
            CHECK(small(i) == 3 * i * i + 1);
        CHECK(wide(89999) == 89999);
    }
}

// The task was left out with what is needed only where g is not found in the cache, and its
// consumer with it: a crash of the compiler.
TEST_CASE("a task inside of what only a memoized Func needs", "[differential]") {
    for (bool ring : {false, true}) {
        Func f("f"), g("g"), h("h"), out("out");
        f(x, y) = x + 100 * y;
        g(x, y) = f(x, y) + f(x, y + 1);
        h(x, y) = g(x, y) + g(x + 1, y);
        out(x, y) = h(x, y) + 1;
        h.compute_root().memoize();
        g.compute_root();
        if (ring)
            f.compute_at(g, y).hoist_storage_root().ring_buffer(2).async();
        else
            f.compute_at(g, y).store_root().async();
        check_against_reference<int>(out, {7, 17});  // twice: found in the cache
        check_against_reference<int>(out, {7, 17});
    }
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
