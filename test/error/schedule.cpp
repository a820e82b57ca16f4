// Directives that cannot be: each message names the Func, the loop and what there is instead.
#include <pipe/pipe.h>

#include "graph/check.h"
#include "graph/freeze.h"
#include "poly/races.h"
#include "test/support/require_message.h"

using namespace Pipe;

namespace {

void check(const std::vector<Func> &outputs) {
    graph::Frozen f = graph::freeze(outputs);
    graph::Graph inlined = graph::inline_funcs(f.graph, f.schedule);
    graph::check(inlined, f.schedule);
    poly::check_races(inlined, f.schedule, {});
}

struct Chain {
    Var x{"x"}, y{"y"}, xo{"xo"}, xi{"xi"}, t{"t"};
    Func a{"a"}, b{"b"}, c{"c"};
    Chain() {
        a(x, y) = x + y;
        b(x, y) = a(x, y) + a(x, y + 1);
        c(x, y) = b(x, y) + a(x, y);
    }
};

}  // namespace

TEST_CASE_METHOD(Chain, "a loop that does not exist", "[schedule][error]") {
    require_message<CompileError>(
        [&] { a.vectorize(t); },
        {"a.vectorize(t)", "schedule.cpp:", "no loop 't'", "x, y (innermost first)"});
    require_message<CompileError>([&] { a.split(t, xo, xi, 4); },
                                  {"a.split(t, xo, xi)", "no loop 't'"});
    a.split(x, xo, xi, 4);
    require_message<CompileError>([&] { a.unroll(x); },
                                  {"a.unroll(x)", "split into 'xo' and 'xi'", "xi, xo, y"});
    b.compute_at(c, t);
    require_message<CompileError>([&] { check({c}); },
                                  {"b.compute_at(c, t)", "schedule.cpp:", "no loop 't'", "x, y"});
    RDom r(0, 4, "r");
    a(r, 0) = 1;
    require_message<CompileError>([&] { a.update().parallel(x); },
                                  {"a.update(0).parallel(x)", "no loop 'x'", "r$x"});
    require_message<CompileError>([&] { a.update(1); },
                                  {"'a'", "1 update definitions", "update(1)"});
}

TEST_CASE_METHOD(Chain, "names and factors", "[schedule][error]") {
    require_message<CompileError>([&] { a.split(x, xo, xi, 0); },
                                  {"a.split(x, xo, xi)", "factor is 0"});
    require_message<CompileError>([&] { a.split(x, xo, xi, 1.5f); },
                                  {"a.split", "float32", "integer"});
    require_message<CompileError>([&] { a.vectorize(x, -4); },
                                  {"a.vectorize(x, -4)", "factor is -4"});
    require_message<CompileError>([&] { a.split(x, y, xi, 4); }, {"a.split", "'y' is taken"});
    require_message<CompileError>([&] { a.split(x, xi, xi, 4); }, {"a.split", "different names"});
    require_message<CompileError>([&] { a.reorder(x, x); }, {"a.reorder(x, x)", "named twice"});
    require_message<CompileError>([&] { a.fuse(x, x, t); }, {"a.fuse", "with itself"});
    require_message<CompileError>([&] { a.bound(t, 0, 4); },
                                  {"a.bound(t)", "no dimension 't'", "x, y"});
    require_message<CompileError>([&] { a.reorder_storage(x, t); },
                                  {"a.reorder_storage(t)", "no dimension 't'"});
    require_message<CompileError>(
        [&] {
            a.set_estimates({{0, 4}});
        },
        {"a.set_estimates", "2 dimensions", "1 ranges"});
    require_message<CompileError>([&] { Func("f").vectorize(x); }, {"'f'", "before it is defined"});
    require_message<CompileError>([&] { a.specialize(Expr(3)); },
                                  {"a.specialize", "bool", "'3' (int32)"});
}

TEST_CASE_METHOD(Chain, "compute_at a loop that does not enclose all uses", "[schedule][error]") {
    b.compute_root();
    a.compute_at(b, y);
    require_message<CompileError>([&] { check({c}); },
                                  {"a.compute_at(b, y)", "schedule.cpp:",
                                   "also used by c at schedule.cpp:", "not inside loop 'y' of b",
                                   "compute_root()"});
    b.compute_at(c, x);
    a.compute_at(c, y);
    CHECK_NOTHROW(check({c}));
}

TEST_CASE_METHOD(Chain, "levels of Funcs that have no loops, or do not use it",
                 "[schedule][error]") {
    a.compute_at(b, y);
    require_message<CompileError>([&] { check({c}); },
                                  {"a.compute_at(b, y)", "'b' is inlined", "compute_root()"});
    Func other("other");
    other(x, y) = x;
    a.compute_at(other, y);
    require_message<CompileError>(
        [&] { check({c}); }, {"a.compute_at(other, y)", "not part of the pipeline", "a, b, c"});
    require_message<CompileError>([&] { a.compute_at(a, y); },
                                  {"a.compute_at(a, y)", "inside itself"});
    a.compute_root();
    c.compute_at(a, y);
    require_message<CompileError>([&] { check({c}); }, {"c.compute_at", "output"});
}

TEST_CASE_METHOD(Chain, "store levels", "[schedule][error]") {
    b.compute_root();
    a.compute_root().store_at(c, y);
    require_message<CompileError>([&] { check({c}); },
                                  {"a.store_at(c, y)", "computed at root", "further out"});
    a.compute_inline().store_root();
    require_message<CompileError>([&] { check({c}); }, {"a.store", "inlined", "compute_at()"});
}

TEST_CASE_METHOD(Chain, "two vectorized loops", "[schedule][error]") {
    c.vectorize(x).vectorize(y);
    require_message<CompileError>([&] { check({c}); },
                                  {"c.vectorize(y)", "'x'", "vectorized already"});
}

TEST_CASE("RVars that must keep their order", "[schedule][error]") {
    Var x("x"), y("y"), ro("ro"), ri("ri");
    RDom r(1, 8, 1, 8, "r");
    Func f("f");
    f(x, y) = x;
    f(r.x, r.y) = f(r.x - 1, r.y - 1) * 2;
    SECTION("reorder") {  // now each reads what the loop, so turned, has not come to yet
        f(r.x, r.y) = f(r.x + 1, r.y - 1) * 2;
        f.update(1).reorder(r.y, r.x);
        require_message<CompileError>([&] { check({f}); }, {"f.update(1).reorder", "schedule.cpp:",
                                                            "another result", "r$x, r$y"});
    }
    SECTION("parallel") {
        f.update().parallel(r.y);
        require_message<CompileError>([&] { check({f}); },
                                      {"f.update(0).parallel(r$y)", "touch the same elements", "'f(r$x - 1, r$y - 1)'"});
    }
    SECTION("vectorize") {
        f(r.x, r.y) = f(r.x - 1, r.y) * 2;
        f.update(1).vectorize(r.x, 4);
        require_message<CompileError>([&] { check({f}); },
                                      {"f.update(1).vectorize(r$x_lane)", "touch the same elements", "rfactor()"});
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

TEST_CASE_METHOD(Chain, "compute_with", "[schedule][error]") {
    a.compute_root();
    b.compute_root().compute_with(a, x);
    require_message<CompileError>([&] { check({c}); }, {"b.compute_with(a, x)", "'b' at schedule.cpp:", "reads 'a'", "compute_at"});
    require_message<CompileError>([&] { a.compute_with(a, x); },
                                  {"a.compute_with(a, x)", "itself"});
}
