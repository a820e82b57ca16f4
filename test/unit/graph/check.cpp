// Schedules that are legal. (Those that are not: test/error/directives.cpp.)
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "test/support/check_schedule.h"

using namespace Pipe;

TEST_CASE("a level may be reached through inlined Funcs", "[check]") {
    Var x("x"), y("y"), yo("yo"), yi("yi");
    Func f("f"), inlined("inlined"), g("g");
    f(x, y) = x + y;
    inlined(x, y) = f(x, y) + f(x + 1, y);
    g(x, y) = inlined(x, y) * 2;
    g.split(y, yo, yi, 16).parallel(yo).vectorize(x, 8);
    f.store_at(g, yo).compute_at(g, yi);
    CHECK_NOTHROW(check_schedule({g}));
}

TEST_CASE("a producer inside a producer", "[check]") {
    Var x("x"), y("y");
    Func a("a"), b("b"), c("c");
    a(x, y) = x;
    b(x, y) = a(x, y);
    c(x, y) = b(x, y);
    b.compute_at(c, y);
    a.compute_at(b, y);
    CHECK_NOTHROW(check_schedule({c}));
    a.compute_at(c, y);
    CHECK_NOTHROW(check_schedule({c}));
    a.store_root();
    CHECK_NOTHROW(check_schedule({c}));
}

TEST_CASE("RVars of a sum run in any order, one after the other", "[check]") {
    Var x("x"), y("y");
    RDom r(0, 8, 0, 8, "r");
    Func f("f"), g("g");
    f(x, y) = x + y;
    g(x, y) = 0;
    g(x, y) += f(x + r.x, y + r.y);
    f.compute_root();
    g(x, y) = (g(x, y) ^ f(x + r.x, y)) ^ f(x, y + r.y);
    for (int update : {0, 1})
        g.update(update).reorder(r.y, x, r.x, y).parallel(y).vectorize(x, 8).unroll(r.y);
    CHECK_NOTHROW(check_schedule({g}));
}

TEST_CASE("an RVar whose iterations touch different elements runs in parallel", "[check]") {
    Var x("x"), y("y");
    RDom r(0, 8, 1, 8, "r");
    Func g("g");
    g(x, y) = x;
    g(r.x, r.y) = g(r.x, r.y - 1) + 1;
    g.update().reorder(r.y, r.x).parallel(r.x);
    CHECK_NOTHROW(check_schedule({g}));
}

TEST_CASE("compute_with", "[check]") {
    Var x("x"), y("y");
    Func a("a"), b("b"), c("c");
    a(x, y) = x;
    b(x, y) = y;
    c(x, y) = a(x, y) + b(x, y);
    a.compute_at(c, y);
    b.compute_at(c, y).compute_with(a, x);
    CHECK_NOTHROW(check_schedule({c}));
}
