// Updates whose RVars must keep their order: what may not be turned round, parallel or a vector.
#include <pipe/pipe.h>

#include "test/support/check_schedule.h"
#include "test/support/require_message.h"

using namespace Pipe;

TEST_CASE("RVars that must keep their order", "[schedule][error]") {
    Var x("x"), y("y"), ro("ro"), ri("ri");
    RDom r(1, 8, 1, 8, "r");
    Func f("f");
    f(x, y) = x;
    f(r.x, r.y) = f(r.x - 1, r.y - 1) * 2;
    SECTION("reorder") {  // now each reads what the loop, so turned, has not come to yet
        f(r.x, r.y) = f(r.x + 1, r.y - 1) * 2;
        f.update(1).reorder(r.y, r.x);
        require_message<CompileError>(
            [&] { check_schedule({f}); },
            {"f.update(1).reorder", "rvar_order.cpp:", "changes the result", "r$x, r$y"});
    }
    SECTION("fuse") {
        f(r.x, r.y) = f(r.x + 1, r.y - 1) * 2;
        f.update(1).fuse(r.y, r.x, ro);
        require_message<CompileError>(
            [&] { check_schedule({f}); },
            {"f.update(1).fuse(r$y", ", ro)", "rvar_order.cpp:", "changes the result"});
    }
    SECTION("parallel") {
        f.update().parallel(r.y);
        require_message<CompileError>(
            [&] { check_schedule({f}); },
            {"f.update(0).parallel(r$y)", "access the same elements", "'f(r$x - 1, r$y - 1)'"});
    }
    SECTION("vectorize") {
        f(r.x, r.y) = f(r.x - 1, r.y) * 2;
        f.update(1).vectorize(r.x, 4);
        require_message<CompileError>(
            [&] { check_schedule({f}); },
            {"f.update(1).vectorize(r$x_lane)", "access the same elements", "rfactor()"});
    }
    SECTION("tails") {
        require_message<CompileError>(
            [&] { f.update().split(r.x, ro, ri, 4, TailStrategy::RoundUp); },
            {"RoundUp", "RVar 'r$x'", "GuardWithIf"});
        require_message<CompileError>(
            [&] { f.update().split(r.x, ro, ri, 4, TailStrategy::ShiftInwards); },
            {"ShiftInwards", "update", "GuardWithIf"});
    }
}

// Only reads after the write were asked for: a read that must come before it could come after it.
TEST_CASE("RVars change their order only where each read keeps its place", "[schedule][error]") {
    Var x("x"), y("y");
    RVar outer("outer"), inner("inner");
    auto start = [](int i, int j) { return 3 * i + j * j; };
    for (int dx = -2; dx <= 2; dx++)
        for (int dy = -2; dy <= 2; dy++)
            for (std::string how : {"reorder", "split x", "split y", "tile"}) {
                INFO("f(r.x, r.y) reads f(r.x + " << dx << ", r.y + " << dy << "), " << how);
                RDom r(2, 8, 2, 8, "r");
                RVar xi("xi"), yi("yi"), xo("xo"), yo("yo");
                Func f("f");
                f(x, y) = 3 * x + y * y;
                f(r.x, r.y) = f(r.x + dx, r.y + dy) + 1;
                if (how == "reorder")
                    f.update().reorder(r.y, r.x);
                if (how == "split x")
                    f.update().split(r.x, outer, inner, 4).reorder(inner, r.y, outer);
                if (how == "split y")
                    f.update().split(r.y, outer, inner, 4).reorder(inner, r.x, outer);
                if (how == "tile")
                    f.update().tile(r.x, r.y, xo, yo, xi, yi, 4, 4);
                auto sign = [](int a, int b) { return a != 0 ? a > 0 : b > 0; };
                bool legal = sign(dy, dx) == sign(dx, dy);
                try {
                    Buffer<int> got = f.realize({12, 12}), expected(12, 12);
                    expected.fill(start);
                    for (int j = 2; j < 10; j++)
                        for (int i = 2; i < 10; i++)
                            expected(i, j) = expected(i + dx, j + dy) + 1;
                    got.for_each_element(
                        [&](int i, int j) { REQUIRE(got(i, j) == expected(i, j)); });
                    CHECK((legal || how == "split y"));  // which may leave the order as it is
                } catch (const CompileError &) {
                    CHECK_FALSE(legal);
                }
            }
}

TEST_CASE("RVars that are fused, and split again, keep their order", "[schedule]") {
    Var x("x"), y("y");
    RVar fused("fused"), outer("outer"), inner("inner");
    for (int how = 0; how < 4; how++) {
        INFO("schedule " << how);
        RDom r(1, 7, 1, 5, "r");
        Func f("f");
        f(x, y) = x + 10 * y;
        f(r.x, r.y) += 2 * f(r.x, r.y - 1) + f(r.x - 1, r.y);
        Stage update = f.update();
        update.fuse(r.x, r.y, fused);
        if (how == 1)
            update.unroll(fused, 4);
        if (how == 2)
            update.split(fused, outer, inner, 3);
        if (how == 3)
            update.split(fused, outer, inner, 4).split(inner, inner, RVar("rest"), 2);
        Buffer<int> got = f.realize({9, 7}), expected(9, 7);
        expected.fill([](int i, int j) { return i + 10 * j; });
        for (int j = 1; j < 6; j++)
            for (int i = 1; i < 8; i++)
                expected(i, j) += 2 * expected(i, j - 1) + expected(i - 1, j);
        got.for_each_element([&](int i, int j) { REQUIRE(got(i, j) == expected(i, j)); });
    }
}
