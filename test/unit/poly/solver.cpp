// Coordinates of accesses: known ones, and random ones against enumeration.

#include <catch2/catch_test_macros.hpp>

#include "poly/solver.h"
#include "support/index.h"

using namespace Pipe;
using namespace Pipe::poly;
using namespace test;

namespace {

constexpr unsigned long no_limit = 0;

Coordinate ask(const Expr &index, int64_t extent = 1000, const Environment &names = {}) {
    Solver solver(no_limit);
    solver.set_stage({{"i", {0, extent - 1}, false}, {"j", {0, 49}, false}, {"r", {0, 4}, true}});
    auto answer = solver.coordinate(index, names);
    REQUIRE(answer.has_value());
    return *answer;
}

}  // namespace

TEST_CASE("A stencil tap has a constant distance") {
    Coordinate c = ask(bin(Op::Add, var("i"), num(2)));
    CHECK(c.iterator == 0);
    CHECK(c.num == 1);
    CHECK(c.den == 1);
    CHECK(c.distance == Range{2, 2});
    CHECK(c.range == Range{2, 1001});
    CHECK(c.constant);
    CHECK(c.exact());
}

TEST_CASE("Down-sampling: the distance covers the taps of the reduction") {
    Coordinate c =
        ask(bin(Op::Add, bin(Op::Mul, num(2), var("i")), bin(Op::Sub, var("r"), num(1))));
    CHECK(c.iterator == 0);
    CHECK(c.num == 2);
    CHECK(c.den == 1);
    CHECK(c.distance == Range{-1, 3});
    CHECK(c.constant);
    CHECK_FALSE(c.exact());
}

TEST_CASE("Up-sampling: two elements of the reader for one of the producer") {
    Coordinate low = ask(bin(Op::Div, var("i"), num(2)));
    Coordinate high = ask(bin(Op::Div, bin(Op::Add, var("i"), num(1)), num(2)));
    CHECK(low.num == 1);
    CHECK(low.den == 2);
    CHECK(low.distance == Range{-1, 0});
    CHECK(high.distance == Range{0, 1});
    CHECK(low.exact());
    CHECK(low != high);
}

TEST_CASE("A remainder moves with no iterator") {
    Coordinate c = ask(bin(Op::Mod, var("i"), num(2)));
    CHECK(c.iterator == -1);
    CHECK(c.distance == Range{0, 1});
    CHECK(c.constant);
    CHECK_FALSE(c.exact());
}

TEST_CASE("A clamp to the image counts as constant, a clamp to a small table as the table") {
    Coordinate image = ask(clamped(bin(Op::Sub, var("i"), num(3)), 0, 990));
    CHECK(image.iterator == 0);
    CHECK(image.distance == Range{-9, 0});
    CHECK(image.range == Range{0, 990});
    CHECK(image.constant);

    Coordinate table = ask(clamped(var("i"), 0, 5));
    CHECK(table.iterator == -1);
    CHECK(table.distance == Range{0, 5});
}

TEST_CASE("Sizes of images are numbers") {
    Expr extent = var("input.extent.0");
    Expr index = bin(Op::Min, var("i"), bin(Op::Sub, extent, num(1)));
    Coordinate c = ask(index, 1000, {{"input.extent.0", Range::point(998)}});
    CHECK(c.range == Range{0, 997});
}

TEST_CASE("Distances that grow with the domain are not constant") {
    CHECK_FALSE(ask(bin(Op::Add, var("i"), var("j")), 100).constant);
    CHECK_FALSE(ask(bin(Op::Sub, num(999), var("i")), 1000).num == 1);
    CHECK(ask(bin(Op::Sub, num(999), var("i"))).num == -1);
}

TEST_CASE("What is not affine gets no answer") {
    Solver solver(no_limit);
    solver.set_stage({{"i", {0, 9}, false}, {"j", {0, 9}, false}});
    CHECK_FALSE(solver.coordinate(bin(Op::Mul, var("i"), var("j")), {}).has_value());
    CHECK_FALSE(solver.coordinate(var("unknown"), {}).has_value());
    Expr loaded = ir::make_call(Int(32), "f", {var("i")}, ir::CallKind::Func);
    CHECK_FALSE(solver.coordinate(loaded, {}).has_value());
    Expr narrow = ir::make_cast(UInt(8), var("i"));  // wraps
    CHECK_FALSE(solver.coordinate(ir::make_cast(Int(32), narrow), {}).has_value());
    CHECK(solver.exhausted() == 0);
    CHECK(solver.coordinate(var("i"), {}).has_value());
}

TEST_CASE("An exhausted quota is an answer, too, and the next question is answered") {
    Solver solver(2);
    solver.set_stage({{"i", {0, 999}, false}, {"j", {0, 49}, false}});
    Expr hard = bin(Op::Mod, bin(Op::Add, bin(Op::Mul, var("i"), num(7)), var("j")), num(13));
    CHECK_FALSE(solver.coordinate(hard, {}).has_value());
    CHECK(solver.exhausted() == 1);

    Solver patient(no_limit);
    patient.set_stage({{"i", {0, 999}, false}, {"j", {0, 49}, false}});
    CHECK(patient.coordinate(hard, {}).has_value());
}

TEST_CASE("Random coordinates: every element within, both ends reached") {
    std::mt19937 rng(20211);
    int answered = 0;
    for (int round = 0; round < 400; round++) {
        Expr index = random_index(rng, 3);
        Solver solver(no_limit);
        solver.set_stage({{"i", {-3, 12}, false}, {"j", {0, 6}, false}, {"r", {0, 2}, true}});
        auto c = solver.coordinate(index, {});
        if (!c)
            continue;
        answered++;
        Range values = Range::empty(), distances = Range::empty();
        for (int64_t i = -3; i <= 12; i++) {
            for (int64_t j = 0; j <= 6; j++) {
                for (int64_t r = 0; r <= 2; r++) {
                    const int64_t x = value_of(index, {{"i", i}, {"j", j}, {"r", r}});
                    const int64_t along = c->iterator < 0 ? 0 : c->iterator == 0 ? i : j;
                    values = hull(values, Range::point(x));
                    distances = hull(distances, Range::point(c->den * x - c->num * along));
                }
            }
        }
        INFO("round " << round);
        CHECK(c->range == values);
        CHECK(c->distance == distances);
    }
    CHECK(answered > 300);
}
