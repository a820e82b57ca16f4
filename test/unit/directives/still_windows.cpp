// Stored further out than it is computed: what is needed again and again is computed once.
#include <atomic>

#include "compare.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

std::atomic<int> calls{0};
int still_count(int value) {
    calls++;
    return value;
}
HalideExtern_1(int, still_count, int);

int count(Func &f, const std::vector<int64_t> &sizes) {
    calls = 0;
    f.realize(sizes);
    return calls;
}

Var x("x"), y("y"), z("z"), xo("xo"), xi("xi");

/// 0 .. 9 in another order, and some twice.
Buffer<int> places() {
    Buffer<int> result(10, "places");
    result.fill([](int i) { return (i * 7) % 9; });
    return result;
}

}  // namespace

TEST_CASE("a window at places that data say is computed once", "[still]") {
    Func f("f"), g("g");
    Buffer<int> at = places();
    SECTION("in one loop") {
        f(x) = still_count(x * 3);
        g(x) = f(clamp(at(clamp(x, 0, 9)), 0, 9)) + x;
        f.store_root().compute_at(g, x);
        CHECK(count(g, {10}) == 10);
        check_equal(g, {{-3, 17}});
        check_equal(g, {{0, 1}});
    }
    SECTION("in two loops") {
        f(x, y) = still_count(x * 3 + y);
        g(x, y) = f(clamp(at(clamp(x, 0, 9)), 0, 9), clamp(at(clamp(y, 0, 9)), 0, 4)) + x;
        f.store_root().compute_at(g, x);
        CHECK(count(g, {10, 10}) == 50);
        check_sizes(g, {1, 7, 12});
    }
    SECTION("in the inner one, while it slides along the outer one") {
        f(x, y) = still_count(x * 3 + y);
        g(x, y) = f(clamp(at(clamp(x, 0, 9)), 0, 9), y) + f(3, y + 2);
        f.store_root().compute_at(g, x);
        CHECK(count(g, {10, 10}) == 120);
        check_sizes(g, {1, 7, 12});
    }
    SECTION("with updates, a Tuple") {
        f(x) = Tuple(still_count(x), x);
        f(x) = Tuple(f(x)[0] + 1, f(x)[1] * 2);
        Expr i = clamp(at(clamp(x, 0, 9)), 0, 9);
        g(x, y) = f(i)[0] + f(i)[1] + y;
        f.store_root().compute_at(g, x);
        CHECK(count(g, {10, 4}) == 10);
        check_sizes(g, {1, 7, 12});
    }
    SECTION("without dimensions") {
        Func s("s");
        s() = still_count(Expr(5));
        g(x, y) = s() + x;
        s.store_root().compute_at(g, x);
        CHECK(count(g, {10, 4}) == 1);
        check_sizes(g, {1, 7});
    }
    SECTION("stored in the outer loop: once in each of its iterations") {
        f(x) = still_count(x * 3);
        g(x, y) = f(clamp(at(clamp(x, 0, 9)), 0, 9)) + y;
        f.store_at(g, y).compute_at(g, x);
        CHECK(count(g, {10, 10}) == 100);
        check_sizes(g, {1, 7});
    }
    SECTION("with what it alone reads") {
        Func below("below");
        below(x) = still_count(x);
        f(x) = below(x) + below(x + 1);
        g(x, y) = f(clamp(at(clamp(x, 0, 9)), 0, 9)) + y;
        f.store_root().compute_at(g, x);
        below.compute_at(g, x);
        CHECK(count(g, {10, 10}) == 11);
        check_sizes(g, {1, 7});
    }
}

TEST_CASE("windows that stand still, in all kinds of loops", "[still]") {
    Func f("f"), g("g"), h("h");
    Buffer<int> at = places();
    f(x, y) = x * 3 + y;
    g(x, y) = f(clamp(at(clamp(x, 0, 9)), 0, 9), y) + f(x, y + 1);
    h(x, y) = g(x, y) + g(x, y + 1);
    SECTION("guarded, inner loop outside") {
        g.compute_root().split(x, xo, xi, 4, TailStrategy::GuardWithIf).reorder(xo, xi);
        f.store_root().compute_at(g, xo);
    }
    SECTION("shared loops") {
        Func other("other");
        other(x, y) = f(3, clamp(y, 0, 2));
        h(x, y) += other(x, y);
        g.compute_root();
        other.compute_root().compute_with(g, x);
        f.compute_root();
    }
    SECTION("unrolled") {
        g.compute_root().split(x, xo, xi, 4).unroll(xi);
        f.store_root().compute_at(g, xi);
    }
    SECTION("parallel outside") {
        g.compute_root().parallel(y);
        f.store_at(g, y).compute_at(g, x);
    }
    SECTION("a task of its own") {
        g.compute_root();
        f.store_root().compute_at(g, x).async();
    }
    SECTION("windows in windows") {
        g.store_root().compute_at(h, x);
        f.store_root().compute_at(g, x);
    }
    SECTION("windows beside windows") {
        g.store_root().compute_at(h, y);
        f.store_root().compute_at(h, y);
    }
    check_sizes(h, {1, 3, 8, 13});
}
