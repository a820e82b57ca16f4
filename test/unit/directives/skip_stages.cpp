// What is read only under a condition is computed only where the condition may hold; the results are the
// same.
#include <atomic>
#include <string>
#include <vector>

#include "compare.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

std::atomic<int> calls[3];

int skip_count(int value, int which) {
    calls[which]++;
    return value;
}
HalideExtern_2(int, skip_count, int, int);

using Counts = std::vector<int>;

/// How often skip_count(.., 0), (.., 1), (.., 2) was called.
template <typename... Sizes> Counts counts(Func &f, Sizes... sizes) {
    for (std::atomic<int> &n : calls)
        n = 0;
    f.realize({sizes...});
    return {calls[0], calls[1], calls[2]};
}

Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi");

}  // namespace

TEST_CASE("skip: one of two Funcs, by a Param", "[skip]") {
    Param<bool> first("first");
    Func a("a"), b("b"), c("c"), out("out");
    a(x) = x;
    b(x) = skip_count(a(x) + 1, 0);
    c(x) = skip_count(a(x) + 2, 1);
    out(x) = select(first, b(x), c(x));
    a.compute_root();
    b.compute_root();
    c.compute_root();
    SECTION("in vectors") {
        out.vectorize(x, 8, TailStrategy::GuardWithIf);
    }
    SECTION("one element after the other") {}
    for (bool which : {true, false}) {
        first.set(which);
        CHECK(counts(out, 10) == (which ? Counts{10, 0, 0} : Counts{0, 10, 0}));
        check_equal(out, {{-3, 17}});
    }
}

TEST_CASE("skip: what only skipped Funcs read, wherever it is stored", "[skip]") {
    Param<bool> p("p"), q("q");
    Func a("a"), b("b"), c("c"), out("out");
    a(x) = skip_count(x, 0);
    b(x) = skip_count(a(x) + 1, 1);
    c(x) = skip_count(a(x) + 1, 2);
    out(x) = select(p, b(x), 0) + select(q, c(x), 0);
    SECTION("at the root") {
        a.compute_root();
        b.compute_root();
        c.compute_root();
    }
    SECTION("in loops") {
        out.split(x, xo, xi, 5);
        a.compute_at(out, xo);
        b.store_root().compute_at(out, xo);
        c.store_at(out, xo).compute_at(out, xi);
    }
    for (bool with_b : {true, false})
        for (bool with_c : {true, false}) {
            p.set(with_b);
            q.set(with_c);
            CHECK(counts(out, 10) ==
                  Counts{with_b || with_c ? 10 : 0, with_b ? 10 : 0, with_c ? 10 : 0});
            check_equal(out, {{4, 10}});
        }
}

TEST_CASE("skip: a Func that an update reads, and all of a Tuple or nothing", "[skip]") {
    Param<bool> p("p");
    Func a("a"), b("b"), out("out");
    a(x) = Tuple(skip_count(x, 0), skip_count(x, 1));
    b(x) = 3;
    RDom r(0, 4);
    r.where(p);
    b(x) += a(x + r)[0];
    out(x) = select(p, a(x)[1], 7) + select(p && x > 3, b(x), x);
    a.compute_root();
    b.compute_root();
    p.set(true);
    CHECK(counts(out, 10) == Counts{13, 13, 0});
    check_equal(out, {{-2, 9}});
    p.set(false);
    CHECK(counts(out, 10) == Counts{0, 0, 0});
    check_equal(out, {{-2, 9}});
}

TEST_CASE("skip: by what another Func says of a row", "[skip]") {
    Func in("in"), negative("negative"), twice("twice"), out("out");
    in(x, y) = select(y % 3 == 0 && x == 7, -1, x);
    RDom r(0, 10);
    negative(y) = cast<bool>(false);
    negative(y) = negative(y) || in(r, y) < 0;
    twice(x, y) = skip_count(in(x, y) * 2, 0);
    out(x, y) = select(negative(y), in(x, y), twice(x, y));
    in.compute_root();
    int expected = 10 * 12;
    SECTION("that is known") {
        negative.compute_root();
        twice.compute_at(out, y);
        expected = 10 * 8;
    }
    SECTION("that differs in the tile") {
        negative.compute_root();
        out.split(y, yo, yi, 4);
        twice.compute_at(out, yo);
    }
    SECTION("that is computed in the loop, before") {
        negative.compute_at(out, y);
        twice.compute_at(out, y);
        expected = 10 * 8;
    }
    CHECK(counts(out, 10, 12)[0] == expected);
    check_sizes(out, {1, 8, 13});
}

// The flags are as large as what is asked for: nothing is loaded of them where nothing is computed.
TEST_CASE("skip: by flags of an image, one per tile", "[skip]") {
    ImageParam flags(UInt(8), 2, "flags");
    Func costly("costly"), tiles("tiles"), out("out");
    Var tx("tx"), ty("ty");
    costly(x, y, tx, ty) = skip_count(x + 10 * y, 0) + tx * ty;
    tiles(x, y, tx, ty) = select(flags(tx, ty) > 127, costly(x, y, tx, ty), 0);
    out(x, y) = tiles(x % 4, y % 4, x / 4, y / 4);
    out.tile(x, y, xi, yi, 4, 4, TailStrategy::GuardWithIf);
    costly.compute_at(tiles, tx);
    tiles.compute_at(out, x);
    for (int size : {1, 8, 13}) {
        int n = (size + 3) / 4, on = 0;
        GuardedBuffer image = noise<uint8_t>({{0, n}, {0, n}});
        flags.set(image.buffer);
        Buffer<uint8_t>(image.buffer).for_each_value([&](uint8_t &flag) { on += flag > 127; });
        if (size == 8)
            CHECK(counts(out, size, size)[0] == on * 16);
        check_equal(out, {{0, size}, {0, size}});
    }
}

TEST_CASE("skip: a window that slides stays complete", "[skip]") {
    Func f("f"), g("g"), h("h");
    f(x) = skip_count(x, 0);
    g(x) = f(x) + f(x - 1);
    h(x) = select(x == 5, 0, g(x));
    f.store_root().compute_at(g, x);
    g.compute_at(h, x);
    CHECK(counts(h, 10)[0] >= 11);
    check_equal(h, {{-3, 20}});
}

TEST_CASE("skip: what says where to load, or goes to a C function, is computed", "[skip]") {
    ImageParam in(Int(32), 1, "in");
    Param<bool> p("p");
    Func f("f"), g("g"), out("out");
    f(x) = clamp(skip_count(x, 0), 0, 99);
    g(x) = f(x) + skip_count(x, 1);
    f.compute_root();
    g.compute_root();
    GuardedBuffer image = noise<int>({{0, 100}});
    in.set(image.buffer);
    p.set(false);
    SECTION("an image") {
        out(x) = select(p, in(f(x)), 1) + select(p, skip_count(g(x), 2), 2);
        CHECK(counts(out, 10) == Counts{10, 10, 10});
    }
    SECTION("a select chooses where to load") {
        out(x) = in(select(p, f(x), 3)) + select(p, g(x), 0);
        CHECK(counts(out, 10) == Counts{0, 0, 0});
    }
    check_equal(out, {{0, 100}});
    p.set(true);
    check_equal(out, {{0, 100}});
}

TEST_CASE("skip: extern stages, groups that share loops, tasks and memoized Funcs", "[skip]") {
    Param<bool> p("p");
    Func f("f"), g("g"), h("h"), out("out");
    f(x, y) = x + 3 * y;
    g(x, y) = f(x, y) * 2 + f(x + 1, y);
    h(x, y) = f(x, y) - f(x, y + 1);
    out(x, y) = select(p, g(x, y), 5) + select(p || y > 3, h(x, y), 2);
    f.compute_root();
    g.compute_root();
    h.compute_root();
    SECTION("compute_with") {
        h.compute_with(g, y);
    }
    SECTION("async") {
        g.async();
    }
    SECTION("async below") {
        f.async();
    }
    SECTION("memoize") {
        g.memoize();
    }
    SECTION("memoize below") {
        f.memoize();
    }
    SECTION("parallel and vectorized loops") {
        out.parallel(y).vectorize(x, 4, TailStrategy::GuardWithIf);
        g.compute_at(out, x);
        h.compute_at(out, y).vectorize(x, 4);
    }
    SECTION("hoisted storage") {
        g.compute_at(out, y).hoist_storage_root();
        h.compute_at(out, y).store_root().fold_storage(y, 2);
    }
    for (bool holds : {false, true}) {
        p.set(holds);
        check_sizes(out, {1, 7, 12});
    }
}

TEST_CASE("skip: a memoized Func that is not used makes no entry in the cache", "[skip]") {
    memoization_cache_cleanup();
    Param<bool> p("p");
    Func below("below"), f("f"), g("g"), out("out");
    below(x) = skip_count(x, 1);
    f(x) = skip_count(below(x), 0) + 5;
    g(x) = f(x) + skip_count(x, 2);
    out(x) = select(p, g(x), 1);
    below.compute_root();
    g.compute_root();
    f.compute_root().memoize();
    SECTION("one") {}
    SECTION("and what reads it") {
        g.memoize();
    }
    p.set(false);
    CHECK(counts(out, 10) == Counts{0, 0, 0});
    check_equal(out, {{0, 9}});
    p.set(true);
    CHECK(counts(out, 10)[0] == 10);
    CHECK(counts(out, 10)[0] == 0);
    check_equal(out, {{0, 9}});
    memoization_cache_cleanup();
}
