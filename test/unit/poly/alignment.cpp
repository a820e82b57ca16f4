// Alignment and scaling of groups: overlaps of known pipelines.

#include <catch2/catch_test_macros.hpp>

#include "poly/alignment.h"

using namespace Pipe;
using namespace Pipe::poly;

namespace {

Coordinate tap(int iterator, int64_t num, int64_t den, Range distance) {
    Coordinate c;
    c.iterator = iterator;
    c.num = num;
    c.den = den;
    c.distance = c.steady = distance;
    c.constant = true;
    return c;
}

Access access(std::vector<Coordinate> coords) {
    Access a;
    a.coords = std::move(coords);
    return a;
}

}  // namespace

TEST_CASE("Overlaps of a chain of stencils add up") {
    // 0 reads 1 at x - 1 .. x + 1, 1 reads 2 at x .. x + 4.
    Access first = access({tap(0, 1, 1, {-1, 1})}), second = access({tap(0, 1, 1, {0, 4})});
    Alignment a = align({1, 1, 1}, {{1, 0, &first}, {2, 1, &second}});
    CHECK(a.constant);
    CHECK(a.region[1][0].distance == Range{-1, 1});
    CHECK(a.region[2][0].distance == Range{-1, 5});
}

TEST_CASE("Two paths of reads: the hull") {
    Access left = access({tap(0, 1, 1, {-3, 0})}), right = access({tap(0, 1, 1, {2, 2})});
    Alignment a = align({1, 1}, {{1, 0, &left}, {1, 0, &right}});
    CHECK(a.constant);
    CHECK(a.region[1][0].distance == Range{-3, 2});
}

TEST_CASE("Down- and up-sampling cancel: dependences are constant after scaling") {
    Access up = access({tap(0, 1, 2, {-1, 1})}), down = access({tap(0, 2, 1, {-1, 2})});
    Access direct = access({tap(0, 1, 1, {0, 0})});
    // 0 reads 1 at half its rate, 1 reads 2 at twice its own; 0 reads 2 directly.
    Alignment a = align({1, 1, 1}, {{1, 0, &up}, {2, 0, &direct}, {2, 1, &down}});
    CHECK(a.constant);
    CHECK(a.region[2][0].num == a.region[2][0].den);
    // den * x - num * i with den = 2: x = i + (2 * [-1, 1] + 2 * [-1, 2]) / 2.
    CHECK(a.region[2][0].distance.min <= -2 * a.region[2][0].den);
    CHECK(a.region[2][0].distance.max >= 3 * a.region[2][0].den);
}

TEST_CASE("Rates that differ are not constant dependences") {
    Access straight = access({tap(0, 1, 1, {0, 0})}), half = access({tap(0, 2, 1, {0, 0})});
    CHECK_FALSE(align({1, 1}, {{1, 0, &straight}, {1, 0, &half}}).constant);
}

TEST_CASE("A transposed and a straight read cannot be aligned; a transposed one alone can") {
    Access straight = access({tap(0, 1, 1, {0, 0}), tap(1, 1, 1, {0, 0})});
    Access transposed = access({tap(1, 1, 1, {0, 0}), tap(0, 1, 1, {0, 0})});
    CHECK_FALSE(align({2, 2}, {{1, 0, &straight}, {1, 0, &transposed}}).constant);
    Alignment a = align({2, 2}, {{1, 0, &transposed}});
    CHECK(a.constant);
    CHECK(a.region[1][0].iterator == 1);
}

TEST_CASE("An access that is not affine is not constant") {
    Access unknown = access({Coordinate()});
    CHECK_FALSE(align({1, 1}, {{1, 0, &unknown}}).constant);
}

TEST_CASE("What reads at a fixed place and at one that may move, may move") {
    Coordinate fixed = tap(-1, 0, 1, {3, 3}), moving = tap(-1, 0, 1, {0, 1});
    moving.may_use = 2;  // clamp(i1, 0, 1)
    CHECK(merge(fixed, moving));
    CHECK(fixed.distance == Range{0, 3});
    CHECK(fixed.may_use == 2);
    Coordinate straight = tap(0, 1, 1, {0, 0}), transposed = tap(1, 1, 1, {0, 0});
    CHECK_FALSE(merge(straight, transposed));
    CHECK(straight.may_use == 3);
}
