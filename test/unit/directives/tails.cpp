// Every tail strategy, on pure definitions and updates: what it gives, and what it touches.
#include "compare.h"
#include "support/require_message.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi");

/// f(x, y) = in(x, y), then an update, and who reads it.
struct Sum {
    ImageParam in{Int(32), 2, "in"};
    Func f{"f"}, g{"g"};
    Sum() {
        f(x, y) = in(x, y) * 3;
        f(x, y) = f(x, y) + in(x, y) * y;
        g(x, y) = f(x, y) + f(x + 1, y);
    }
    /// The input has exactly what the reference reads.
    void feed(const Shape &shape) {
        image = noise<int>({{shape[0].first, shape[0].second + 1}, shape[1]});
        in.set(image.buffer);
    }
    GuardedBuffer image{Int(32), {{0, 1}, {0, 1}}, 0, false};
};

}  // namespace

TEST_CASE("tails that never touch anything outside", "[tails]") {
    for (TailStrategy tail : {TailStrategy::GuardWithIf, TailStrategy::Predicate})
        for (bool vector : {false, true}) {
            INFO("tail " << static_cast<int>(tail) << " vector " << vector);
            Sum s;
            s.f.compute_root().split(x, xo, xi, 8, tail);
            s.f.update().split(x, xo, xi, 8, tail);
            s.g.split(x, xo, xi, 4, tail);
            if (vector) {
                s.f.vectorize(xi);
                s.f.update().vectorize(xi);
                s.g.vectorize(xi);
            }
            for (int width : {1, 3, 8, 9, 15, 16, 31})
                for (int min : {0, -5}) {
                    Shape shape{{min, width}, {2, 3}};
                    s.feed(shape);
                    check_equal(s.g, shape);
                }
        }
}

TEST_CASE("tails of a Func inside of the pipeline, for every size of the output", "[tails]") {
    for (TailStrategy tail : {TailStrategy::RoundUp, TailStrategy::RoundUpAndBlend,
                              TailStrategy::PredicateLoads, TailStrategy::PredicateStores,
                              TailStrategy::ShiftInwards, TailStrategy::ShiftInwardsAndBlend})
        for (bool at_row : {false, true}) {
            INFO("tail " << static_cast<int>(tail) << " at a row " << at_row);
            Func f("f"), g("g");
            f(x, y) = x * 7 + y;
            f(x, y) += x * y;
            g(x, y) = f(x, y) + f(x + 2, y + 1);
            if (at_row)
                f.compute_at(g, y);
            else
                f.compute_root();
            f.vectorize(x, 8, tail);
            if (tail == TailStrategy::ShiftInwards)
                f.update().vectorize(x, 4, TailStrategy::ShiftInwardsAndBlend);
            else
                f.update().vectorize(x, 4, tail);
            check_sizes(g, {1, 2, 7, 8, 9, 17, 24});
        }
}

TEST_CASE("PredicateLoads reads no more than the exact input", "[tails]") {
    Sum s;
    s.f.compute_root().vectorize(x, 8, TailStrategy::PredicateLoads);
    s.f.update().vectorize(x, 8, TailStrategy::PredicateLoads);
    for (int width : {1, 6, 7, 8, 13}) {
        Shape shape{{0, width}, {1, 4}};
        s.feed(shape);
        check_equal(s.g, shape);
    }
}

TEST_CASE("PredicateStores on an output stores no more than the exact output", "[tails]") {
    ImageParam in(Int(32), 1, "in");
    Func f("f");
    f(x) = in(x) + 1;
    f.vectorize(x, 8, TailStrategy::PredicateStores);
    for (int width : {1, 7, 8, 9, 23}) {
        GuardedBuffer image = noise<int>({{0, (width + 7) / 8 * 8}});
        in.set(image.buffer);
        check_equal(f, {{0, width}});
        if (width % 8 == 0)
            continue;
        GuardedBuffer exact = noise<int>({{0, width}});
        in.set(exact.buffer);
        require_message<RuntimeError>([&] { f.realize({width}); }, {"Input in", "is read"});
    }
}

TEST_CASE("outputs that must be a multiple of the factor", "[tails]") {
    for (TailStrategy tail :
         {TailStrategy::RoundUp, TailStrategy::RoundUpAndBlend, TailStrategy::PredicateLoads}) {
        INFO("tail " << static_cast<int>(tail));
        Func f("f");
        f(x) = x;
        f(x) += 2 * x;
        f.update().vectorize(x, 4, tail);
        check_equal(f, {{0, 4}});
        check_equal(f, {{-3, 12}});
        Buffer<int> six(6);
        require_message<RuntimeError>([&] { f.realize(six); }, {"Output f", "is written"});
    }
}

TEST_CASE("RoundUpAndBlend keeps what lies beyond", "[tails]") {
    // The update covers part of a row; what it rounds up to keeps the values of the definition.
    Func f("f"), g("g");
    Param<int> n("n");
    f(x, y) = 100 * x + y;
    RDom r(0, n, "r");
    f(x, r) += 1;
    g(x, y) = f(x, y);
    f.compute_root();
    f.update().vectorize(x, 8, TailStrategy::RoundUpAndBlend);
    for (int rows : {1, 2, 3}) {
        n.set(rows);
        check_sizes(g, {1, 7, 8, 11});
    }
}

TEST_CASE("ShiftInwardsAndBlend adds once in every update", "[tails]") {
    for (bool vector : {false, true}) {
        Func f("f");
        f(x, y) = x - y;
        f(x, y) += 10 * x;
        f(x, y) *= 3;
        for (int u : {0, 1}) {
            f.update(u).split(x, xo, xi, 8, TailStrategy::ShiftInwardsAndBlend);
            if (vector)
                f.update(u).vectorize(xi);
        }
        check_sizes(f, {8, 9, 15, 16, 21});
        Buffer<int> small(7, 2);
        require_message<RuntimeError>([&] { f.realize(small); },
                                      {"f.update(0)", "extent of 7", "factor 8"});
    }
}

TEST_CASE("ShiftInwardsAndBlend with the inner loop outside", "[tails]") {
    Func f("f");
    f(x, y) = x - y;
    f(x, y) += 10 * x;
    f.update()
        .split(x, xo, xi, 4, TailStrategy::ShiftInwardsAndBlend)
        .reorder(xo, y, xi)
        .vectorize(xo, 2, TailStrategy::GuardWithIf);
    check_sizes(f, {4, 5, 11, 12});
}

TEST_CASE("ShiftInwards on an update that does not read its Func", "[tails]") {
    Func f("f");
    f(x, y) = x;
    f(x, y) = x * y;
    f.update().vectorize(x, 4, TailStrategy::ShiftInwards);
    check_sizes(f, {4, 5, 10});
    f(x, y) += 1;
    require_message<CompileError>(
        [&] { f.update(1).vectorize(x, 4, TailStrategy::ShiftInwards); },
        {"f.update(1)", "ShiftInwards", "reads its own Func", "ShiftInwardsAndBlend"});
}

TEST_CASE("PredicateLoads where what is written depends on the Var that is split", "[tails]") {
    // u goes up to two beyond, and x with it
    Param<int> p("p");
    RDom r(0, 4, "r");
    Var u("u");
    Func f("f"), g("g");
    f(x, u) = 0;
    f(clamp(p + 2 * r + u, 0, 14), u) += r + 1;
    g(x, u) = f(x, u);
    f.compute_at(g, u).update().reorder(r, u).split(u, xo, xi, 3, TailStrategy::PredicateLoads);
    for (int value : {-3, 2, 9}) {
        p.set(value);
        testing::GuardedContext guarded;
        Buffer<int> out(5, 4);
        g.realize(&guarded, out);
        CHECK(guarded.overrun() == 0);
        check_sizes(g, {1, 4, 9});
    }
}

TEST_CASE("tails of tuples and of narrow types", "[tails]") {
    for (TailStrategy tail : {TailStrategy::ShiftInwardsAndBlend, TailStrategy::RoundUpAndBlend,
                              TailStrategy::PredicateStores, TailStrategy::PredicateLoads}) {
        Func f("f"), g("g");
        f(x, y) = Tuple(cast<uint8_t>(x), x * 1.5f);
        f(x, y) = Tuple(f(x, y)[0] + cast<uint8_t>(y), f(x, y)[1] * 2.0f);
        g(x, y) = cast<int>(f(x, y)[0]) + cast<int>(f(x, y)[1]);
        f.compute_root().vectorize(x, 8, tail);
        f.update().vectorize(x, 8, tail);
        check_sizes(g, {1, 8, 13});
    }
}

TEST_CASE("tails that an RVar does not take", "[tails]") {
    Func f("f");
    RDom r(0, 10, "r");
    f(x) = 0;
    f(x) += r;
    RVar ro("ro"), ri("ri");
    for (TailStrategy tail : {TailStrategy::RoundUp, TailStrategy::ShiftInwards,
                              TailStrategy::PredicateLoads, TailStrategy::PredicateStores,
                              TailStrategy::ShiftInwardsAndBlend, TailStrategy::RoundUpAndBlend})
        require_message<CompileError>([&] { f.update().split(r, ro, ri, 4, tail); },
                                      {"f.update(0).split", "RVar 'r$x'", "GuardWithIf"});
    f.update().split(r, ro, ri, 4, TailStrategy::Predicate);
    check_equal(f, {{0, 9}});
}

TEST_CASE("blends and parallel loops over the same dimension", "[tails]") {
    Func f("f");
    f(x, y) = x;
    f(x, y) += y;
    f.update().split(x, xo, xi, 4, TailStrategy::ShiftInwardsAndBlend).parallel(xo);
    require_message<CompileError>(
        [&] {
            f.realize({8, 8});
        },
        {"f.update(0).parallel(xo)", "'x'", "ShiftInwardsAndBlend"});
    f.update().serial(xo).parallel(y);
    check_sizes(f, {4, 7});
}

TEST_CASE("masks belong to the innermost split", "[tails]") {
    Func f("f");
    f(x) = x;
    f.split(x, xo, xi, 8, TailStrategy::PredicateStores);
    require_message<CompileError>([&] { f.vectorize(xi, 4); },
                                  {"f.split(xi", "PredicateStores", "innermost"});
}

// In the last tile fewer elements of f are needed than in the others, of eight each.
TEST_CASE("loops of at most eight iterations are vectorized and unrolled", "[tails]") {
    for (bool vectorized : {true, false}) {
        Func f("f"), g("g");
        f(x, y) = x * x + y;
        g(x, y) = f(x, y) * 2 + f(x + 1, y);
        g.vectorize(x, 7, TailStrategy::GuardWithIf);
        f.compute_at(g, x).store_in(MemoryType::Stack);
        if (vectorized)
            f.vectorize(x);
        else
            f.unroll(x);
        check_sizes(g, {1, 6, 7, 8, 37});
    }
}

// Their extents were asked for without what the lets around them say.
TEST_CASE("loops of a stage with updates, at most as long as the tile that reads it", "[tails]") {
    Var yo("yo"), yi("yi"), xy("xy");
    for (bool vectorized : {true, false})
        for (bool updated : {true, false})
            for (bool fused : {true, false})
                for (auto tail : {TailStrategy::GuardWithIf, TailStrategy::ShiftInwards}) {
                    INFO("vectorized " << vectorized << ", updated " << updated << ", fused "
                                       << fused << ", tail " << static_cast<int>(tail));
                    Func f("f"), g("g");
                    RDom r(0, 3, "r");
                    f(x, y) = x * x + y;
                    if (updated)
                        f(x, y) += r;
                    g(x, y) = f(x, y);
                    g.tile(x, y, xo, yo, xi, yi, 16, 4, tail);
                    if (fused)
                        g.fuse(xo, yo, xy);
                    f.compute_at(g, fused ? xy : xo);
                    if (vectorized)
                        f.vectorize(y);
                    else
                        f.unroll(y);
                    if (updated && vectorized)
                        f.update().vectorize(y);
                    if (updated && !vectorized)
                        f.update().unroll(y);
                    if (tail == TailStrategy::ShiftInwards)
                        check_sizes(g, {17, 37});
                    else
                        check_sizes(g, {1, 6, 37});
                }
}
