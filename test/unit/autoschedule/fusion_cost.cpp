// Tile sizes, cost and inlining of Jangda and Bondhugula 2020, against the paper's numbers and sums by hand.

#include <cmath>
#include <set>

#include <catch2/catch_test_macros.hpp>

#include "autoschedule/inlining.h"
#include "autoschedule/strategies/fusion_cost.h"
#include "autoschedule/tile_sizes.h"
#include "priced.h"

using namespace test;
using autoschedule::fusion_cost;
using autoschedule::fusion_tiles;
using autoschedule::tile_sizes;
using Tile = std::vector<int64_t>;

TEST_CASE("Algorithm 2: the tile sizes that the paper prints") {
    constexpr double l1 = 32 << 10, l2 = 256 << 10;  // bytes, of floats
    // Table 7: Harris, whose 11 stages take six buffers: 42 x 256 in L2, 5 x 256 in L1.
    const Tile harris = {4256, 2832};
    CHECK(tile_sizes(l2 / 4 / 6, harris, {1, 1}, 256) == Tile{256, 42});
    CHECK(tile_sizes(l1 / 4 / 6, harris, {1, 1}, 256) == Tile{256, 5});
    // Table 6: unsharp mask, with two buffers after inlining: 5 x 256 of three channels in L1.
    CHECK(tile_sizes(l1 / 4 / 2, {4256, 2832, 3}, {1, 5, 1}, 256) == Tile{256, 5, 3});
}

TEST_CASE(
    "Algorithm 2: dimensions with more reuse are longer, and what one cannot use the others get") {
    // 256 * 40 * 10: four times the reuse
    CHECK(tile_sizes(256 * 400, {4096, 4096, 4096}, {1, 4, 1}, 256) == Tile{256, 40, 10});
    // the last one ends at eight: 256 * 50 * 8
    CHECK(tile_sizes(256 * 400, {4096, 4096, 8}, {1, 4, 1}, 256) == Tile{256, 50, 8});
    CHECK(tile_sizes(1e9, {100, 200, 300}, {1, 1, 1}, 256) == Tile{100, 200, 300});
    CHECK(tile_sizes(10, {100, 200}, {1, 1}, 256) == Tile{100, 1});
    CHECK(tile_sizes(1000, {5000}, {1}, 256) == Tile{256});
    CHECK(tile_sizes(1000, {}, {}, 256).empty());
}

TEST_CASE("Equation (2) of two stages of blur, summed by hand") {
    Blur p;  // of two-byte elements
    const Priced blur = price(p.by, {{0, 2559}, {0, 1919}});
    Machine machine = two_cores();
    machine.cores = 5;
    const auto group = blur.group({"bx", "by"}, machine);
    const auto cost = fusion_cost(group, machine, 48 << 10, {});
    // 48 KiB for two buffers of two bytes: 12288 points, 48 rows of 256.
    CHECK(cost.tile == Tile{256, 48});
    // A tile of bx has two more rows, which the next tile computes again.
    const double tile = 256 * 48 * 2 + 256 * 50 * 2, overlap = 256 * 2 * 2;
    const double input = 2562.0 * 1922 * 2, output = 2560.0 * 1920 * 2, bx = 2560.0 * 1922 * 2;
    CHECK(cost.live == (input + output) / tile);
    CHECK(cost.overlap == overlap / (48 << 10));
    CHECK(cost.cleanup == std::fmod(std::floor((bx + output) / (48 << 10)) + 4, 5));
    CHECK(cost.extents == 1 * 4);  // 1920 and 1922 rows: one from the mean; elements of four bytes
    CHECK(cost.is_small);
    CHECK(cost.total({}) ==
          1.0 * cost.live - 100.0 * cost.cleanup + 46875.0 * cost.overlap + 1.5 * cost.extents);
}

TEST_CASE("A footprint that the cores share without filling their caches makes one tile per core") {
    Blur p;
    const Priced blur = price(p.by, {{0, 255}, {0, 59}});
    Machine machine = two_cores();
    machine.cores = 4;
    const auto cost = fusion_cost(blur.group({"bx", "by"}, machine), machine, 1 << 20, {});
    CHECK(cost.tile == Tile{256, 15});
    CHECK(cost.cleanup == 3);  // (4 + 3) % 4: no tile too many
}

TEST_CASE("Algorithm 3 leaves three of the eleven stages of Harris") {
    HarrisOfGray p;
    Priced harris = price(p.harris, {{0, 4253}, {0, 2829}});
    std::vector<int> all;
    for (size_t n = 0; n < harris.graph.nodes.size(); n++)
        all.push_back(static_cast<int>(n));
    REQUIRE(all.size() == 11);
    std::set<std::string> left;
    for (int n : autoschedule::inline_in_group(harris.graph, all))
        left.insert(harris.graph.nodes[static_cast<size_t>(n)].name);
    CHECK(left == std::set<std::string>{"ix", "iy", "harris"});
}

TEST_CASE("Algorithm 3 keeps what would be computed twice, and the output") {
    Var x("x"), y("y"), c("c");
    ImageParam in(Float(32), 2, "in");
    Func wide("wide"), twice("twice"), even("even"), out("out"), planes("planes");
    wide(x, y) = in(x - 1, y) + in(x + 1, y);   // read at two points
    twice(x, y) = wide(x, y) + wide(x, y + 1);  // read at its own point by one stage
    out(x, y) = twice(x, y) * 2.0f;
    Priced p = price(out, {{0, 99}, {0, 99}});
    CHECK(autoschedule::inline_in_group(p.graph, {0, 1, 2}) == std::vector<int>{0, 2});

    // One stage reads the even columns, the other one the odd ones.
    Func left("left"), right("right"), both("both"), pairs("pairs");
    pairs(x, y) = in(x, y) + in(x + 1, y);
    left(x, y) = pairs(2 * x, y);
    right(x, y) = pairs(2 * x + 1, y) * 3.0f;
    both(x, y) = left(x, y) + left(x + 1, y) + right(x, y) + right(x + 1, y);
    Priced q = price(both, {{0, 99}, {0, 99}});
    const std::vector<int> kept = autoschedule::inline_in_group(q.graph, {0, 1, 2, 3});
    CHECK(std::find(kept.begin(), kept.end(), int(q.node("pairs").id)) == kept.end());

    // Computed for each of three channels.
    twice(x, y) += 0.0f;
    planes(x, y, c) = wide(x, y) * cast<float>(c);
    Priced r = price(planes, {{0, 99}, {0, 99}, {0, 2}});
    CHECK(autoschedule::inline_in_group(r.graph, {0, 1}) == std::vector<int>{0, 1});
}

TEST_CASE("Algorithm 4: tiles of L2 with inner tiles of L1 where those of L1 overlap too much") {
    Var x("x"), y("y");
    ImageParam in(Float(32), 2, "in");
    std::vector<Func> chain;
    std::vector<std::string> names;
    for (int i = 0; i < 8; i++) {
        chain.emplace_back("stage" + std::to_string(i));
        names.push_back(chain.back().name());
        if (i == 0)
            chain[0](x, y) = in(x, y - 1) + in(x, y) + in(x, y + 1);
        else
            chain.back()(x, y) = chain[size_t(i - 1)](x, y - 1) + chain[size_t(i - 1)](x, y) +
                                 chain[size_t(i - 1)](x, y + 1);
    }
    Machine machine = two_cores();
    machine.l1_bytes = 32 << 10;
    machine.l2_bytes = 256 << 10;
    const Priced priced = price(chain.back(), {{0, 4095}, {0, 4095}});
    const auto group = priced.group(names, machine);
    // L1: 8192 floats / 8 buffers / 256 = 4 rows. The producers need 2, 4 .. 14 more of them, 56 in all.
    CHECK(fusion_cost(group, machine, machine.l1_bytes, {}).tile == Tile{256, 4});
    CHECK_FALSE(fusion_cost(group, machine, machine.l1_bytes, {}).is_small);
    const auto tiles = fusion_tiles(group, machine, {}, true);
    REQUIRE(tiles);
    CHECK(tiles->tiling.size == Tile{256, 32});
    CHECK(tiles->tiling.row_dim == 1);
    CHECK(tiles->tiling.inner == 4);
    const auto one_level = fusion_tiles(group, machine, {}, false);
    CHECK(one_level->tiling.size == Tile{256, 32});
    CHECK(one_level->tiling.row_dim == -1);

    const auto plan = group.plan_of(tiles->tiling);
    REQUIRE(plan);
    CHECK(plan->step == 4);
    for (size_t m = 1; m < plan->members.size(); m++) {
        CHECK(plan->levels[m] == autoschedule::Level::Row);
        CHECK(plan->slides[m]);
    }
    // Of the first producer, for one inner tile that is not the first: two rows are kept.
    CHECK(plan->extents[1] == Tile{256, 4});
}

TEST_CASE("Groups with dependences that are not constant have no tiles") {
    Var x("x"), y("y"), c("c");
    ImageParam in(Float(32), 2, "in");
    Func a("a"), transposed("transposed"), planes("planes"), channels("channels");
    a(x, y) = in(x, y) + in(x + 1, y);
    transposed(x, y) = a(x, y) + a(y, x);
    planes(x, y, c) = a(x, y) * cast<float>(c);
    const Machine machine = two_cores();
    auto tiles = [&](const Func &f, const std::vector<poly::Range> &box) {
        const Priced p = price(f, box);
        return fusion_tiles(p.group({"a", f.name()}, machine), machine, {}, true);
    };
    CHECK_FALSE(tiles(transposed, {{0, 999}, {0, 999}}));
    CHECK_FALSE(tiles(planes, {{0, 999}, {0, 999}, {0, 99}}));  // a is shared by all planes
    CHECK(tiles(planes, {{0, 999}, {0, 999}, {0, 2}}));         // three are in one tile
}

TEST_CASE("Expressions do not grow without limit where different loads have one element") {
    Var x("x");
    ImageParam in(Float(32), 1, "in");
    std::vector<Func> chain;
    std::vector<int> members;
    for (int i = 0; i < 40; i++) {
        Func f("level" + std::to_string(i));
        if (i == 0)
            f(x) = in(x);
        else
            f(x) = chain.back()(clamp(x, 0, 0)) * 2.0f + chain.back()(clamp(x + 1, 0, 0));
        chain.push_back(f);
        members.push_back(i);
    }
    Priced p = price(chain.back(), {{0, 0}});  // 2 ^ 39 calls of level0 if all were inlined
    const std::vector<int> left = autoschedule::inline_in_group(p.graph, members);
    CHECK(left.size() >= 3);
    for (int n : left)
        CHECK(p.graph.nodes[size_t(n)].stages[0].written < 1e5);
}
