// Pure C functions whose arguments do not change in a loop are called once.
#include <atomic>

#include "test/unit/directives/compare.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

std::atomic<int> calls{0};
float hoist_square(float value) {
    calls++;
    return value * value;
}
HalidePureExtern_1(float, hoist_square, float);
float hoist_effect(float value) {
    calls++;
    return value * value;
}
HalideExtern_1(float, hoist_effect, float);

int count(Func &f, const std::vector<int64_t> &sizes) {
    calls = 0;
    f.realize(sizes);
    return calls;
}

Var x("x"), y("y");

}  // namespace

TEST_CASE("pure C functions leave the loops that do not change their arguments", "[hoist]") {
    Param<float> p("p", 3.f);
    Func f("f");
    SECTION("all of them") {
        f(x, y) = hoist_square(p) * x + y;
        CHECK(count(f, {10, 10}) == 1);
        SECTION("vectors") {
            f.vectorize(x, 4);
        }
        SECTION("threads") {
            f.parallel(y);
        }
        CHECK(count(f, {13, 10}) == 1);
    }
    SECTION("the same twice, one in the other") {
        f(x, y) = hoist_square(p) * x + hoist_square(p) + hoist_square(hoist_square(p) + y);
        CHECK(count(f, {10, 10}) == 11);
    }
    SECTION("the inner one") {
        f(x, y) = hoist_square(p + y) * x;
        CHECK(count(f, {10, 7}) == 7);
    }
    SECTION("of an RVar") {
        RDom r(0, 5);
        f(x, y) = 0.f;
        f(x, y) += hoist_square(p) * r;
        CHECK(count(f, {10, 7}) == 1);
    }
    SECTION("what another Func has stored before") {
        Func g("g");
        g(x) = x + p;
        g.compute_root();
        f(x, y) = hoist_square(g(0)) + y;
        CHECK(count(f, {10, 7}) == 1);
    }
    check_equal<float>(f, {{0, 13}, {0, 5}});
    check_equal<float>(f, {{-3, 1}, {2, 1}});
}

TEST_CASE("calls that may not be made once and for all", "[hoist]") {
    Param<float> p("p", 3.f);
    Param<int> n("n", 0);
    Func f("f");
    SECTION("with effects") {
        f(x, y) = hoist_effect(p) * x;
        CHECK(count(f, {10, 7}) == 70);
    }
    SECTION("in a loop that is empty") {
        RDom r(0, n);
        f(x, y) = 0.f;
        f(x, y) += hoist_square(p) * r;
        CHECK(count(f, {10, 7}) == 0);
        n.set(3);
        CHECK(count(f, {10, 7}) == 1);
    }
    SECTION("of what the loop stores") {
        RDom r(1, 9);
        f(x, y) = cast<float>(x % 3);
        f(r, y) = hoist_square(f(r - 1, y)) * 0.25f + 1.f;
        CHECK(count(f, {10, 7}) == 63);
    }
    SECTION("under a condition") {
        RDom r(0, 10);
        r.where(r < n);
        f(x, y) = 0.f;
        f(r, y) += hoist_square(p);
        CHECK(count(f, {10, 7}) == 0);
        n.set(4);
        CHECK(count(f, {10, 7}) >= 1);
    }
    check_equal<float>(f, {{0, 10}, {0, 5}});
}
