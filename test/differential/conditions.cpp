// Bugs where a condition, a select or an empty RDom leaves less to compute, or nothing.
#include <pipe/pipe.h>

#include <catch2/catch_test_macros.hpp>

#include "differential/against_reference.h"
#include "support/guarded_memory.h"
#include "support/require_message.h"

using namespace Pipe;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi");

}  // namespace

// Beside what others need, so that it stays in the storage: iterations that need nothing begin anywhere.
TEST_CASE("a split that shifts inwards where a condition leaves nothing to compute",
          "[differential]") {
    Var xo("xo"), xi("xi");
    Func f("f"), g("g");
    g(x) = x + 1;
    SECTION("of a where, behind a task that is not skipped") {
        RDom r(0, 4, 0, 4, "r");
        r.where(r.y * 4 + r.x < 5);
        f(x) = x;
        f(x) += g(x + r.y * 4 + r.x);
        g.compute_at(f, r.x).async();
    }
    SECTION("of a select, in each iteration of two loops") {
        f(x, y) = select(y * 4 + x < 5, g(y * 4 + x), 0);
        g.compute_at(f, x).async();
    }
    g.store_root().split(x, xo, xi, 4, TailStrategy::ShiftInwards);
    Shape shape(static_cast<size_t>(f.dimensions()), {0, 5});
    CHECK(wrong_elements(f, {shape}) == 0);
}

// A product with an empty interval is not empty: the box was outside of the storage, and was computed.
TEST_CASE("what a condition leaves empty stays inside of what the loop around needs",
          "[differential]") {
    Func f("f"), out("out");
    Param<int> p("p", -1);
    f(x) = x * 10;
    SECTION("a product") {
        out(x, y) = select(y >= 5, f(x * y), 2);
        f.store_root().compute_at(out, y);
    }
    SECTION("a product with a Param") {
        out(x, y) = select(y >= 5, f(y * p), 2);
        f.store_root().compute_at(out, y);
    }
    SECTION("a quotient by a Param") {
        out(x, y) = select(y >= 5, f(y / p), 2);
        f.store_root().compute_at(out, y);
    }
    SECTION("of a where") {
        RDom r(-4, 14, "r");
        r.where(r >= 5);
        out(x, y) = y;
        out(x, y) += f(x * r);
        out.update().reorder(x, r);
        f.store_root().compute_at(out, r);
    }
    for (const Shape &shape :
         {Shape{{0, 9}, {-4, 14}}, Shape{{-3, 1}, {-4, 1}}, Shape{{2, 7}, {4, 3}}})
        CHECK(wrong_elements(out, {shape}) == 0);
}

// Random case 1300007668: of a known extent below 0, the interval was taken to be one of a known size.
TEST_CASE("what a condition leaves empty in every iteration stays inside, too", "[differential]") {
    Func f("f"), out("out");
    f(x, y) = x * 10 + y;
    RDom r(-1, 1, -1, 4, "r");
    r.where(r.y == 17);
    out(x, y) = y;
    out(x, y) += f(x, y + r.y);
    f.store_at(out.update(), x).compute_at(out.update(), r.x).split(y, xo, xi, 4);
    SECTION("serial") {}
    SECTION("vectorized") {
        f.vectorize(xi);
    }
    out.reorder(x, y).update().reorder(r.x, r.y, y, x);
    CHECK(wrong_elements(out, {{{0, 2}, {0, 15}}}) == 0);
    CHECK(wrong_elements(out, {{{-3, 1}, {5, 1}}}) == 0);
}

TEST_CASE("what a condition leaves empty reads no input", "[differential]") {
    Func f("f"), out("out");
    ImageParam in(Int(32), 1, "in");
    f(x) = in(x)*10;
    out(x, y) = select(y >= 5, f(x * y), 2);
    f.compute_at(out, y).async();
    testing::GuardedBuffer image = noise<int>({{0, 73}});
    in.set(image.buffer);
    CHECK(wrong_elements(out, {{{0, 9}, {-4, 14}}}) == 0);
}

TEST_CASE("two empty loops are fused to an empty one", "[differential]") {
    Var made("made");
    Func f("f"), g("g");
    Param<int> p("p"), q("q");
    SECTION("over an input that nobody needs") {
        ImageParam in(Int(32), 2, "in");
        testing::GuardedBuffer image = noise<int>({{0, 4}, {0, 4}});
        in.set(image.buffer);
        f(x, y) = in(x, y);
        g(x, y) = select(x < p && y < p, f(x, y), 7);
        f.compute_root().fuse(x, y, made);
        for (int last : {-2000, 0, 1, 4}) {
            p.set(last);
            CHECK(wrong_elements(g, {{{0, 4}, {0, 4}}}) == 0);
        }
    }
    SECTION("over the RVars of an RDom") {
        RVar fused("fused");
        RDom r(0, p, 0, q, "r");
        g(x, y) = x;
        g(x, y) += r.x + 3 * r.y + 1;
        g.update().fuse(r.x, r.y, fused);
        for (auto [w, h] : {std::pair{-2, -3}, {-2, 3}, {2, -3}, {0, 0}, {2, 3}, {1, 7}}) {
            p.set(w), q.set(h);
            CHECK(wrong_elements(g, {{{-1, 5}, {0, 1}}}) == 0);
        }
    }
}

TEST_CASE("a split that shifts inwards for an RDom that may be empty", "[differential]") {
    Param<int> n("n");
    RDom r(0, n, "r");
    Func h("h"), g("g"), out("out");
    h(x) = x * 3;
    g(x) = h(x) + 1;
    out(y) = 7;
    out(y) += g(y + r);
    g.compute_at(out, y).vectorize(x, 8);
    SECTION("stored outside") {
        g.store_root();
    }
    SECTION("reading what is stored outside") {
        h.compute_root();
    }
    for (int last : {0, 1, 8, -9, -60}) {
        n.set(last);
        CHECK(wrong_elements(out, {{{0, 20}}}) == 0);
        CHECK(wrong_elements(out, {{{-3, 1}}}) == 0);
    }
}

TEST_CASE("what an update of its own needs under a condition stays inside", "[differential]") {
    Param<int> p("p", 3);
    ImageParam im(Int(32), 1, "im");
    testing::GuardedBuffer image = noise<int>({{0, 200}});
    im.set(image.buffer);
    RDom r(0, 10, "r");
    r.where(y < p);
    Func f("f"), g("g"), out("out");
    g(x) = x * 5;
    f(x, y) = x + g(x);
    f(r, y) += f(r + y * clamp(im(clamp(y, 0, 199)), -1, 2), y);
    out(x, y) = f(x, y) + 1;
    g.compute_root();
    f.compute_at(out, y);
    for (int last : {3, 5000}) {
        p.set(last);
        CHECK(wrong_elements(out, {{{0, 10}, {0, 100}}}) == 0);
    }
}

// A select's condition narrowed the region at the storage's level, but not at the level of the
// computation, where its variable is one point: more was computed than there was room for.
TEST_CASE("a window under a select stays inside its storage", "[differential]") {
    ImageParam in(Int(32), 2, "in");
    Func producer("producer"), f("f");
    producer(x, y) = in(x, y) + 1;
    f(x) = select(x == 6, producer(x * 2, x + 2), producer(x, 4));
    // As much of the input as the definition reads, and no more.
    testing::GuardedBuffer image = noise<int>({{0, 19}, {4, 5}});
    in.set(image.buffer);
    producer.compute_at(f, x).hoist_storage_root();
    check_against_reference<int>(f, {19});
    producer.store_root();  // the window jumps to and fro
    require_message<CompileError>([&] { f.compile_jit(); },
                                  {"store_root of producer", "cannot slide"});
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

// Found by random schedules (seed 4110028816): where a select leaves nothing of a whole image, a split that shifts
// inwards asked an input for as much as its factor, wherever the empty range lay.
TEST_CASE("a condition that leaves nothing of an image asks for no input", "[differential]") {
    ImageParam in(Int(32), 1, "in");
    testing::GuardedBuffer image = noise<int>({{0, 10}});
    in.set(image.buffer);
    for (bool below : {false, true}) {
        Func f("f"), out("out");
        f(x) = in(x)*10;
        out(x) = select(below ? x < -40 : x >= 40, f(x), x);
        f.compute_root().split(x, xo, xi, 4, TailStrategy::ShiftInwards).vectorize(xi);
        for (const Shape &shape : {Shape{{0, 9}}, Shape{{-3, 1}}, Shape{{5, 30}}})
            CHECK(wrong_elements(out, {shape}) == 0);
    }
}

// Found by random pipelines (seed 4110000758): each of the elements that a comparison with data allows was given
// memory, in three dimensions 32 GB, though an iteration needs one.
TEST_CASE("an element under a condition on data needs memory for one", "[differential]") {
    Var z("z");
    ImageParam in(Float(64), 1, "in");
    testing::GuardedBuffer image = noise<double>({{0, 40}});
    in.set(image.buffer);
    Func f("f"), out("out");
    RDom r(-1, 1);
    f(x, y, z) = x + 10 * y + 100 * z;
    f(x, y, z) += r.x;
    out(x) = select(x == cast<int>(clamp(in(x), -1000.0, 1000.0)), f(x - 2, x - 1, 0 - x), 2);
    for (int width : {1, 7, 40})
        check_against_reference<int>(out, {width});
}
