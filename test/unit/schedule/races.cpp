// Loops over RVars that run at once: what is legal as it is, and what is refused.
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "test/support/require_message.h"
#include "test/unit/schedule/same_values.h"

using namespace Pipe;

TEST_CASE("storage that is hoisted to a loop of a sum over all cores", "[races]") {
    Var x("x");
    RDom r(0, 50, "r");
    Func g("g"), sum("sum");
    g(x) = x * 3;
    sum(x) = 0;
    sum(x) += g(x + r);
    sum.update().reorder(x, r).parallel(r);
    g.compute_at(sum.update(), x).hoist_storage(sum.update(), r);
    Buffer<int> fast = sum.realize({9}), slow = sum.realize_reference({9});
    fast.for_each_element([&](int i) { REQUIRE(fast(i) == slow(i)); });
}

// Which iteration writes last makes no difference.
TEST_CASE("a scatter of values that depend on pure Vars alone", "[races]") {
    Var x("x"), b("b");
    RVar ro("ro"), ri("ri");
    for (int how = 0; how < 4; how++) {
        Func squares("squares"), hits("hits");
        RDom r(0, 50, "r");
        squares(x) = x * x;
        hits(b, x) = 0;
        hits(squares(r) % 10, x) = squares(x) + 1;
        if (how > 0)
            hits.update().split(r, ro, ri, 8).reorder(ro, x, ri);
        if (how > 1)
            hits.update().parallel(ri);
        if (how == 2)
            hits.update().vectorize(x, 4);
        if (how == 3)
            hits.update().atomic().vectorize(ro, 2);
        INFO(how);
        Buffer<int> fast = hits.realize({10, 13}), slow = hits.realize_reference({10, 13});
        bool square[] = {true, true, false, false, true, true, true, false, false, true};
        for (int j = 0; j < 13; j++)
            for (int i = 0; i < 10; i++) {
                CHECK(fast(i, j) == (square[i] ? j * j + 1 : 0));
                CHECK(slow(i, j) == fast(i, j));
            }
    }
    Func f("f");
    RDom r(0, 50, "r");
    f(x) = 0;
    f(r % 10) = r;
    f.update().parallel(r);
    require_message<CompileError>([&] { f.realize({10}); },
                                  {"f.update(0)", "parallel", "two of them write"});
}

TEST_CASE("races that are refused", "[races][error]") {
    Var x("x"), y("y");
    RDom r(1, 8, 1, 8, "r");
    Func f("f");
    f(x, y) = x + y;
    SECTION("neighbors") {
        f(r.x, r.y) = f(r.x - 1, r.y) / 2;
        SECTION("along") {
            f.update().parallel(r.x);
            require_message<CompileError>(
                [&] {
                    f.realize({9, 9});
                },
                {"f.update(0).parallel(r$x)", "races.cpp:", "'r$x'", "one writes 'f(r$x, r$y)'",
                 "reads 'f(r$x - 1, r$y)'", "rfactor()", "atomic()", "allow_race_conditions()"});
        }
        SECTION("across: no race") {
            f.update().parallel(r.y);
            Buffer<int> fast = f.realize({9, 9}), slow = f.realize_reference({9, 9});
            fast.for_each_element([&](int x, int y) { REQUIRE(fast(x, y) == slow(x, y)); });
        }
        SECTION("another order of rows: no race") {
            f.update().reorder(r.y, r.x).vectorize(r.y, 4);
            Buffer<int> fast = f.realize({9, 9}), slow = f.realize_reference({9, 9});
            fast.for_each_element([&](int x, int y) { REQUIRE(fast(x, y) == slow(x, y)); });
        }
    }
    SECTION("even and odd never meet") {
        f(2 * r.x, r.y) = f(2 * r.x + 1, r.y) * 3;
        f.update().parallel(r.y).vectorize(r.x, 4);
        Buffer<int> fast = f.realize({18, 9}), slow = f.realize_reference({18, 9});
        fast.for_each_element([&](int x, int y) { REQUIRE(fast(x, y) == slow(x, y)); });
    }
    SECTION("tiles of a split never meet") {
        RVar ro("ro"), ri("ri");
        f(r.x, 0) = f(r.x, 1) - r.x;
        f.update().split(r.x, ro, ri, 3).parallel(ro);
        Buffer<int> fast = f.realize({9, 9}), slow = f.realize_reference({9, 9});
        fast.for_each_element([&](int x, int y) { REQUIRE(fast(x, y) == slow(x, y)); });
        f.update().parallel(r.y);
        require_message<CompileError>(
            [&] {
                f.realize({9, 9});
            },
            {"f.update(0).parallel(r$y)", "write 'f(r$x"});
    }
    SECTION("diagonals, skewed the wrong way") {
        f(r.x, r.y) = f(r.x + 1, r.y - 1) * 2;
        f.update().reorder(r.y, r.x);
        require_message<CompileError>(
            [&] {
                f.realize({10, 9});
            },
            {"f.update(0).reorder(r$y, r$x)", "changes the result", "f(r$x + 1, r$y - 1)"});
    }
    SECTION("an index that depends on data") {
        Buffer<uint8_t> index(20);
        index.fill([](int i) { return i % 7; });
        f(cast<int>(index(r.x)), r.y) = r.x;
        f.update().vectorize(r.x, 4);
        require_message<CompileError>(
            [&] {
                f.realize({9, 9});
            },
            {"f.update(0).vectorize(r$x_lane)", "two of them write"});
    }
    SECTION("allowed by the user") {
        f(r.x, 0) = f(r.x, 1);
        f.update().allow_race_conditions().parallel(r.y);
        CHECK_NOTHROW(f.realize({9, 9}));
    }
}

// Factors need RVars: the loop over both had no extent to make accumulators for.
TEST_CASE("a loop that is fused of a Var and an RVar has no accumulators", "[schedule][races]") {
    Var x("x"), t("t");
    RVar rt("rt");
    RDom r(0, 4, "r");
    for (bool vectorized : {false, true}) {
        Func f("f"), g("g");
        f(x) = 0;
        f(x) += x + r;
        g(x) = 0;
        g(x) += x + r;
        f.update().fuse(x, r, t);
        g.update().fuse(r, x, rt);
        if (vectorized)
            f.update().vectorize(t, 4), g.update().vectorize(rt, 4);
        else
            f.update().parallel(t), g.update().parallel(rt);
        for (Func wrong : {f, g})
            require_message<CompileError>(
                [&] { wrong.compile_jit(); },
                {"may access the same elements", "cannot use private accumulators", "fused"});
    }
}
