// memoize: the same results, computed as often as the cache's contents say, and no more often.
#include <thread>

#include "compare.h"
#include "memoize.h"
#include "support/require_message.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi");

/// g(x, y) = f(x, y) + f(x + 1, y), f(x, y) = 3 * x + p * y + 7
struct Simple : Cache {
    Param<int> p{"p", 1};
    Func f{"f"}, g{"g"};
    Simple() {
        f(x, y) = pipe_memo_counted(3 * x + p * y + 7);
        g(x, y) = f(x, y) + f(x + 1, y);
    }
    /// Elements of f that are computed for a g of this size; checks all values.
    int run(int width, int height, int x0 = 0, int y0 = 0) {
        Buffer<int> out(width, height);
        out.set_min(x0, y0);
        int count = computed([&] { g.realize(out); });
        int wrong = 0;
        for (int b = y0; b < y0 + height; b++)
            for (int a = x0; a < x0 + width; a++)
                wrong += out(a, b) != 6 * a + 3 + 2 * (p.get() * b + 7);
        CHECK(wrong == 0);
        return count;
    }
};

}  // namespace

TEST_CASE_METHOD(Simple, "what was computed is found again", "[memoize]") {
    f.compute_root().memoize();
    for (auto [width, height] : {std::pair{1, 1}, {7, 3}, {16, 9}, {64, 2}}) {
        CHECK(run(width, height) == (width + 1) * height);
        CHECK(run(width, height) == 0);
        CHECK(run(width, height, -5, 3) == (width + 1) * height);  // another box
        CHECK(run(width, height, -5, 3) == 0);
        CHECK(run(width, height) == 0);
    }
    check_sizes(g, {1, 8, 21});
}

TEST_CASE_METHOD(Simple, "the key has the Params that are used", "[memoize]") {
    Param<float> other("other", 1.f);
    g(x, y) += cast<int>(other) - cast<int>(other);
    f.compute_root().memoize();
    CHECK(run(5, 4) == 24);
    other.set(2.f);
    CHECK(run(5, 4) == 0);
    p.set(2);
    CHECK(run(5, 4) == 24);
    p.set(1);
    CHECK(run(5, 4) == 0);
    p.set(2);
    CHECK(run(5, 4) == 0);
}

TEST_CASE_METHOD(Cache, "Params of every type, through other Funcs, bounds and conditions",
                 "[memoize]") {
    Param<uint8_t> a("a", 0);
    Param<bool> b("b", false);
    Param<double> c("c", 0.0);
    Param<float> d("d", 0.f);
    Param<int64_t> e("e", 0);
    Param<int> n("n", 3);
    Func first("first"), sum("sum"), out("out");
    RDom r(0, n);
    r.where(r.x < cast<int>(e));
    first(x) = cast<int>(a) + select(b, 1, 0) + cast<int>(c) + x;
    sum(x) = pipe_memo_counted(cast<int>(d));
    sum(x) += first(x + r);
    out(x) = sum(x);
    sum.compute_root().memoize();
    auto run = [&](int expected_calls) {
        Buffer<int> got(10), expected(10);
        CHECK(computed([&] { out.realize(got); }) == expected_calls);
        out.realize_reference(Realization(expected));
        int wrong = 0;
        for (int i = 0; i < 10; i++)
            wrong += got(i) != expected(i);
        CHECK(wrong == 0);
    };
    run(10), run(0);
    a.set(200), run(10), run(0);
    b.set(true), run(10), run(0);
    c.set(1e5), run(10), run(0);
    d.set(-3.f), run(10), run(0);
    e.set(int64_t(1) << 33), run(10), run(0);
    n.set(2), run(10), run(0);
    a.set(0), b.set(false), c.set(0), d.set(0), e.set(0), n.set(3), run(0);
}

TEST_CASE_METHOD(Simple, "tiles are found one by one", "[memoize]") {
    g.tile(x, y, xo, yo, xi, yi, 8, 4, TailStrategy::GuardWithIf);
    f.compute_at(g, xo).memoize();
    SECTION("serial") {}
    SECTION("vectors that round up or shift") {
        f.vectorize(x, 4);
    }
    SECTION("in parallel") {
        g.parallel(yo);
    }
    SECTION("all in parallel") {
        g.fuse(xo, yo, yo).parallel(yo);
        f.compute_at(g, yo);
    }
    int first = run(16, 8);
    CHECK(first >= 4 * 9 * 4);
    CHECK(run(16, 8) == 0);
    int more = run(24, 8);  // four of the six tiles are there
    CHECK(more == first / 2);
    CHECK(run(24, 8) == 0);
    CHECK(run(21, 7) > 0);  // the tiles at the edges are smaller
    CHECK(run(21, 7) == 0);
    p.set(2);
    CHECK(run(24, 8) == first / 2 * 3);
    check_sizes(g, {1, 5, 21});
    check_sizes(g, {1, 5, 21});
}

TEST_CASE_METHOD(Simple, "rows that tails compute beyond are not taken for asked ones",
                 "[memoize]") {
    for (TailStrategy tail :
         {TailStrategy::RoundUp, TailStrategy::GuardWithIf, TailStrategy::ShiftInwards,
          TailStrategy::PredicateLoads, TailStrategy::PredicateStores}) {
        Func in("in"), h("h"), out("out");
        in(x, y) = 2 * x + y;
        h(x, y) = in(x, y) + p;
        out(x, y) = h(x, y) + h(x, y + 2);
        in.compute_root();
        h.compute_at(out, y).vectorize(x, 8, tail).memoize();
        for (int width : {9, 10, 16, 11, 9})
            check_equal(out, {{0, width}, {0, 3}});
        for (int width : {9, 10, 16, 11, 9})
            check_equal(out, {{0, width}, {0, 3}});
    }
}

TEST_CASE_METHOD(Cache, "what only a memoized Func needs is not computed for one that is found",
                 "[memoize]") {
    Param<int> p("p", 1);
    Func a("a"), b("b"), c("c"), out("out");
    a(x) = pipe_memo_counted(x * p);
    b(x) = a(x) + a(x + 1);
    c(x) = b(x) + b(x + 1);
    out(x) = c(x) + 1;
    a.compute_root(), b.compute_root(), c.compute_root().memoize();
    auto run = [&] {
        Buffer<int> got(8), expected(8);
        int count = computed([&] { out.realize(got); });
        out.realize_reference(Realization(expected));
        for (int i = 0; i < 8; i++)
            REQUIRE(got(i) == expected(i));
        return count;
    };
    SECTION("a chain") {
        CHECK(run() == 10);
        CHECK(run() == 0);
    }
    SECTION("part of it computed inside") {
        a.compute_at(b, x);
        CHECK(run() == 18);
        CHECK(run() == 0);
    }
    SECTION("with a window that slides inside") {
        a.store_root().compute_at(b, x);
        CHECK(run() == 10);
        CHECK(run() == 0);
    }
    SECTION("with a window that lives longer than the memoized Func") {
        out.split(x, xo, xi, 4);
        b.compute_at(out, xo);
        c.compute_at(out, xo);
        a.store_root().compute_at(b, x);
        CHECK(run() == 12);
        CHECK(run() == 12);  // b is computed in any case
    }
    SECTION("two memoized Funcs, one for the other") {
        b.memoize();
        CHECK(run() == 10);
        CHECK(run() == 0);
        p.set(2);
        CHECK(run() == 10);
        CHECK(run() == 0);
    }
    SECTION("somebody else needs it too") {
        out(x) += b(x);
        CHECK(run() == 10);
        CHECK(run() == 10);
    }
    SECTION("two memoized Funcs that both need it") {
        Func d("d");
        d(x) = b(x) * 2;
        out(x) += d(x);
        d.compute_root().memoize();
        CHECK(run() == 10);
        CHECK(run() == 10);
    }
    SECTION("in tiles") {
        out.split(x, xo, xi, 4);
        for (Func f : {a, b, c})
            f.compute_at(out, xo);
        CHECK(run() == 12);
        CHECK(run() == 0);
    }
    SECTION("in a task of its own") {
        b.async();
        CHECK(run() == 10);
        CHECK(run() == 10);
    }
}

TEST_CASE_METHOD(Cache, "Tuples are one entry", "[memoize]") {
    Param<int> p("p", 5);
    Func f("f"), g("g");
    f(x, y) = Tuple(cast<uint8_t>(pipe_memo_counted(x + p)), cast<double>(x) * y, x * 3 < y);
    f(x, y) = Tuple(f(x, y)[0] + cast<uint8_t>(1), f(x, y)[1], !f(x, y)[2]);
    g(x, y) = cast<int>(f(x, y)[0]) + cast<int>(f(x, y)[1]) * 1000 + select(f(x, y)[2], 7, 0);
    f.compute_root().memoize();
    for (int width : {1, 9, 64})
        for (int again : {0, 1}) {
            Buffer<int> got(width, 3), expected(width, 3);
            CHECK(computed([&] { g.realize(got); }) == (again ? 0 : 3 * width));
            g.realize_reference(Realization(expected));
            int wrong = 0;
            for (int b = 0; b < 3; b++)
                for (int a = 0; a < width; a++)
                    wrong += got(a, b) != expected(a, b);
            CHECK(wrong == 0);
        }
}

TEST_CASE_METHOD(Cache, "a Func without dimensions", "[memoize]") {
    Param<int> p("p", 5);
    Func f("f"), g("g");
    f() = pipe_memo_counted(p * 2);
    g(x) = f() + x;
    f.compute_root().memoize();
    CHECK(computed([&] {
              for (int value : {5, 6, 5})
                  for (int again = 0; again < 2; again++) {
                      p.set(value);
                      Buffer<int> out = g.realize({4});
                      CHECK(out(3) == 2 * value + 3);
                  }
          }) == 2);
}

TEST_CASE_METHOD(Simple, "storage of another shape", "[memoize]") {
    f.compute_root().memoize();
    SECTION("order") {
        f.reorder_storage(y, x);
    }
    SECTION("aligned") {
        f.align_storage(x, 16);
    }
    SECTION("bounded") {
        f.bound_storage(x, 100);
    }
    SECTION("bounds") {
        f.bound(x, -10, 80);
    }
    SECTION("aligned bounds") {
        f.align_bounds(x, 8);
    }
    SECTION("on the heap") {
        f.store_in(MemoryType::Heap);
    }
    SECTION("nontemporal") {
        f.vectorize(x, 4, TailStrategy::GuardWithIf).store_nontemporal();
    }
    CHECK(run(20, 4) > 0);
    CHECK(run(20, 4) == 0);
    CHECK(run(13, 5) > 0);
    CHECK(run(13, 5) == 0);
}

TEST_CASE_METHOD(Simple, "outputs that are not dense, and too small for the usual code",
                 "[memoize]") {
    f.compute_root().memoize();
    g.vectorize(x, 8);
    CHECK(run(16, 4) == 68);
    Buffer<int> wide(32, 4);
    Buffer<int> strided(wide.data(), {{0, 16, 2}, {0, 4, 32}});
    CHECK(computed([&] { g.realize(strided); }) == 0);
    CHECK(strided(3, 2) == 18 + 3 + 2 * (2 + 7));
    CHECK(run(3, 4) == 16);
    CHECK(run(3, 4) == 0);
}

TEST_CASE_METHOD(Simple, "specializations find what the others computed", "[memoize]") {
    Param<bool> fast("fast", false);
    f.compute_root().memoize();
    f.specialize(fast).vectorize(x, 4, TailStrategy::GuardWithIf);
    g.specialize(fast).vectorize(x, 4, TailStrategy::GuardWithIf);
    CHECK(run(9, 4) == 40);
    fast.set(true);
    CHECK(run(9, 4) == 0);
}

TEST_CASE_METHOD(Cache, "specializations that store another shape", "[memoize]") {
    // Found by random schedules (seed 2100022684): constants were no part of the key.
    Param<bool> blocks("blocks", false);
    Var c("c");
    Func h("h"), g("g");
    h(x, y, c) = x + 10 * y + 100 * c;
    g(x, y) = h(x, y, 0) + h(x + 1, y, 1);
    h.compute_at(g, y).memoize();
    h.specialize(blocks).split(y, yo, yi, 8, TailStrategy::RoundUp);
    Pipeline pipeline(g);
    for (bool value : {false, true, false}) {
        blocks.set(value);
        check_sizes(pipeline, {1, 8, 21});
    }
}

TEST_CASE_METHOD(Simple, "sums in parallel", "[memoize]") {
    Param<int> n("n", 100);
    Func sum("sum"), out("out");
    RDom r(0, n);
    sum(x) = 0;
    sum(x) += pipe_memo_counted(r + x);
    sum.compute_root().memoize().update().parallel(r);
    out(x) = sum(x);
    for (int value : {100, 37, 100}) {
        n.set(value);
        Buffer<int> got(3);
        int count = computed([&] { out.realize(got); });
        CHECK((count == 3 * value || (count == 0 && value == 100)));
        CHECK(computed([&] { out.realize(got); }) == 0);
        for (int i = 0; i < 3; i++)
            CHECK(got(i) == value * (value - 1) / 2 + i * value);
    }
}

TEST_CASE("what is computed inside of a memoized Func lives no longer than its loops run",
          "[memoize]") {
    Func inner("inner"), f("f"), g("g");
    inner(x, y) = x + y;
    f(x, y) = inner(x, y) * 2;
    g(x, y) = f(x, y) + 1;
    f.compute_at(g, y).memoize();
    inner.compute_at(f, x);
    SECTION("stored outside") {
        inner.store_root();
        require_message<CompileError>(
            [&] {
                g.realize({4, 4});
            },
            {"inner.store_at or store_root", "loops of 'f'", "found in the memoization cache",
             "stored for longer", "inside 'f'"});
    }
    SECTION("a task that begins outside") {
        for (const LoopLevel &level : {LoopLevel::root(), LoopLevel(g, y)}) {
            inner.hoist_storage(level).async();
            require_message<CompileError>(
                [&] {
                    g.realize({4, 4});
                },
                {"inner.async", "loops of 'f'", "found in the memoization cache",
                 "its task and its memory live longer", "inside 'f'"});
        }
    }
    SECTION("memory alone may") {
        inner.hoist_storage_root();
        for (int i = 0; i < 2; i++) {
            Buffer<int> got = g.realize({4, 4});
            CHECK(got(3, 2) == 11);
        }
    }
}
