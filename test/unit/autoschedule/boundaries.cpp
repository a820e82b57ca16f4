// Boundary conditions cost nothing in the interior of pure loops, and their tests in sums.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "autoschedule/operation_cost.h"
#include "graph/check.h"
#include "pipelines.h"

using namespace test;

namespace {

autoschedule::Arithmetic arithmetic_of(const Expr &value) {
    autoschedule::Arithmetic sum;
    for (const autoschedule::Work &work : autoschedule::work_of({value}, {"x", "y"}))
        sum.add(work.arithmetic, 1);
    return sum;
}

bool is_inlined(const language::Frozen &frozen, const Result &r, const std::string &name) {
    for (const graph::FuncNode &f : frozen.graph.funcs)
        if (f.name == name)
            return r.schedule[f.id].compute.inlined();
    FAIL(name << " is not in the graph");
    return false;
}

/// Halves of neighbors, with zeros outside of the picture.
struct ZeroOutside {
    Var x{"x"}, y{"y"};
    ImageParam input{Float(32), 2, "input"};
    Func half{"half"}, zeros, out{"out"};

    ZeroOutside() {
        half(x, y) = input(x, y) * 0.5f;
        zeros = BoundaryConditions::constant_exterior(half, 0.0f, {{0, 1000}, {0, 1000}});
    }
    Result schedule(const language::Frozen &frozen) const {
        const Result r = autoschedule_for(
            frozen, {{{{0, 1000}, {0, 1000}}}, {{"input", {{0, 1000}, {0, 1000}}}}, {}});
        graph::check(graph::inline_funcs(r.graph, r.schedule), r.schedule);
        return r;
    }
};

}  // namespace

TEST_CASE("Selects of likely values are tests, apart from the other arithmetic") {
    const Var x("x"), y("y");
    ImageParam in(Float(32), 2, "in");
    const Expr value = in(x, y);
    const Expr inside = x >= 0 && x < 100;
    const autoschedule::Arithmetic boundary = arithmetic_of(select(inside, likely(value), 0.0f));
    CHECK(boundary.total() == 0);
    CHECK(boundary.tests == 4 + 4 + 1 + 4);  // two comparisons, and of bools, select
    CHECK(boundary.with_tests().total() == boundary.tests);
    const autoschedule::Arithmetic choice = arithmetic_of(select(inside, value, 0.0f));
    CHECK(choice.total() == boundary.tests);
    CHECK(choice.tests == 0);
}

TEST_CASE("A boundary condition is inlined into a stencil") {
    ZeroOutside p;
    p.out(p.x, p.y) = p.zeros(p.x - 1, p.y) + p.zeros(p.x + 1, p.y) + p.zeros(p.x, p.y + 1);
    const language::Frozen frozen = language::freeze({p.out});
    CHECK(is_inlined(frozen, p.schedule(frozen), p.zeros.name()));
}

TEST_CASE("A boundary condition that a sum reads is stored before") {
    const int stages_after = GENERATE(0, 80);  // more than those whose inlining is searched
    ZeroOutside p;
    RDom r(-4, 9, -4, 9);
    Func sums("sums");
    sums(p.x, p.y) = 0.0f;
    sums(p.x, p.y) += p.zeros(p.x + r.x, p.y + r.y);
    Func last = sums;
    for (int i = 0; i < stages_after; i++) {
        Func next("next" + std::to_string(i));
        next(p.x, p.y) = last(p.x - 1, p.y) + last(p.x + 1, p.y + 1);
        last = next;
    }
    p.out(p.x, p.y) = last(p.x, p.y);
    const language::Frozen frozen = language::freeze({p.out});
    CHECK_FALSE(is_inlined(frozen, p.schedule(frozen), p.zeros.name()));
}

// A window that is expected to slide, but cannot, costs all rows before in each step.
TEST_CASE("no window slides along the rows of a mirrored Func", "[autoschedule]") {
    for (const bool mirrored : {false, true}) {
        Var x("x"), y("y");
        ImageParam in(Float(32), 2, "in");
        Func costly("costly"), out("out");
        costly(x, y) = exp(in(x, y)) + sin(in(x, y));
        const Region region = {{0, in.width()}, {0, in.height()}};
        Func outside = mirrored ? BoundaryConditions::mirror_interior(costly, region)
                                : BoundaryConditions::repeat_edge(costly, region);
        out(x, y) = outside(x, y - 2) + outside(x, y) + outside(x, y + 2);
        const Result r =
            autoschedule_for(language::freeze({out}),
                             {{{{0, 2048}, {0, 2048}}}, {{"in", {{0, 2048}, {0, 2048}}}}, {}});
        REQUIRE(r.report.plans.size() == 1);
        const autoschedule::Plan &plan = r.report.plans[0];
        REQUIRE(plan.members.size() == 2);
        CHECK((plan.levels[1] == autoschedule::Level::Row) == !mirrored);
    }
}
