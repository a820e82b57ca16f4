// Composition of accesses and footprints of tiles, against enumeration.

#include <random>

#include <catch2/catch_test_macros.hpp>

#include "poly/access.h"
#include "poly/solver.h"
#include "support/index.h"

using namespace Pipe;
using namespace Pipe::poly;
using namespace test;

namespace {

Coordinate coordinate(const Expr &index, Range domain) {
    Solver solver(0);
    solver.set_stage({{"i", domain, false}});
    return *solver.coordinate(index, {});
}

Expr random_tap(std::mt19937 &rng) {
    auto pick = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
    Expr scaled = bin(Op::Mul, var("i"), num(1 + pick(3)));
    return bin(Op::Div, bin(Op::Add, scaled, num(pick(9) - 4)), num(1 + pick(3)));
}

}  // namespace

TEST_CASE("A substituted producer is read where its reader reads it") {
    std::mt19937 rng(5);
    const Range domain{-10, 40};
    for (int round = 0; round < 200; round++) {
        Expr inner = random_tap(rng), outer = random_tap(rng);
        Coordinate in = coordinate(inner, domain);
        Coordinate out = coordinate(outer, in.range);
        Coordinate both = compose(out, {in});
        for (int64_t i = domain.min; i <= domain.max; i++) {
            const int64_t y = value_of(inner, {{"i", i}});
            const int64_t x = value_of(outer, {{"i", y}});
            const int64_t distance = both.den * x - both.num * i;
            REQUIRE(distance >= both.distance.min);
            REQUIRE(distance <= both.distance.max);
            REQUIRE(x >= both.range.min);
            REQUIRE(x <= both.range.max);
        }
    }
}

TEST_CASE("Stencils compose exactly") {
    Coordinate a = coordinate(bin(Op::Add, var("i"), num(1)), {0, 9});
    Coordinate b = coordinate(bin(Op::Sub, var("i"), num(3)), {0, 12});
    Coordinate both = compose(b, {a});
    CHECK(both.distance == Range{-2, -2});
    CHECK(both.exact());
    CHECK(to_string(both) == "i0 - 2");
}

TEST_CASE("A floor of a floor is one floor") {
    Coordinate half = coordinate(bin(Op::Div, var("i"), num(2)), {0, 99});
    Coordinate quarter = compose(half, {half});
    CHECK(quarter.den == 4);
    CHECK(quarter.distance == Range{-3, 0});
    CHECK(quarter.exact());
    CHECK(quarter == [&] {
        Coordinate direct = coordinate(bin(Op::Div, var("i"), num(4)), {0, 99});
        direct.range = quarter.range;
        return direct;
    }());
}

TEST_CASE("What repeats says after how many steps") {
    const Expr i = var("i");
    CHECK(coordinate(bin(Op::Mod, i, num(3)), {-50, 50}).period == 3);
    CHECK(coordinate(bin(Op::Mod, bin(Op::Add, bin(Op::Mul, i, num(2)), num(1)), num(6)), {-50, 50})
              .period == 3);
    CHECK(coordinate(bin(Op::Div, bin(Op::Mod, i, num(4)), num(2)), {-50, 50}).period == 4);
    CHECK(coordinate(bin(Op::Div, i, num(3)), {-50, 50}).period == 0);
    CHECK(coordinate(bin(Op::Min, i, num(3)), {0, 50}).period == 0);
    CHECK(coordinate(num(5), {-50, 50}).period == 0);

    // Seen from a reader: i % 3 repeats where it is read at i + 1, not known at 2 * i.
    const Coordinate mod = coordinate(bin(Op::Mod, i, num(3)), {-50, 50});
    Coordinate dimension = mod;
    dimension.may_use = 1;
    CHECK(compose(dimension, {coordinate(bin(Op::Add, i, num(1)), {-50, 49})}).period == 3);
    CHECK(compose(dimension, {coordinate(bin(Op::Mul, i, num(2)), {-25, 25})}).period == 0);
}

TEST_CASE("The footprint of a tile holds what the tile reads, and no more for one tap") {
    std::mt19937 rng(6);
    for (int round = 0; round < 200; round++) {
        Expr index = random_tap(rng);
        Coordinate c = coordinate(index, {-50, 50});
        const int64_t start = static_cast<int64_t>(rng() % 60) - 30;
        const Range tile{start, start + static_cast<int64_t>(rng() % 8)};
        Range read = Range::empty();
        for (int64_t i = tile.min; i <= tile.max; i++) {
            read = hull(read, Range::point(value_of(index, {{"i", i}})));
        }
        const Range answer = touched(c, tile);
        CHECK(answer.min <= read.min);
        CHECK(answer.max >= read.max);
        if (c.exact())
            CHECK(answer == read);
    }
}
