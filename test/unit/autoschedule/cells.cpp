// Scatters to cells: in parallel, and equal to the definition.
#include <catch2/catch_test_macros.hpp>

#include "autoschedule/cells.h"
#include "priced.h"
#include <pipe/pipe.h>

using namespace test;

namespace {

/// The update of a Func of two dimensions that is stored at these coordinates.
std::vector<autoschedule::Cells> cells(const Expr &at_x, const Expr &at_y, const Expr &value = 1) {
    Var x("x"), y("y");
    Func f("f");
    f(x, y) = 0;
    f(at_x, at_y) += value;
    return price(f, {{0, 99}, {0, 99}}).node("f").stages[1].cells;
}

/// Sums of blocks of pixels, by their brightness, and how many they are.
struct Grid {
    Var x{"x"}, y{"y"}, z{"z"}, c{"c"};
    RDom r{0, 203, 0, 158, "r"};
    Func grid{"grid"};

    explicit Grid(const Buffer<uint8_t> &image) {
        grid(x, y, z, c) = 0;
        grid(r.x / 8, r.y / 8, image(r.x, r.y) / 32, c) +=
            select(c == 0, cast<int>(image(r.x, r.y)), 1);
    }
};

}  // namespace

TEST_CASE("coordinates of a scatter that are formulas of one RVar are cells", "[autoschedule]") {
    const RDom r(0, 80, 0, 40, "r"), odd(3, 20, 0, 10, "odd");
    const auto blocks = cells(r.x / 8 + 1, r.y);
    REQUIRE(blocks.size() == 2);
    CHECK(blocks[0].rvar == "r$x");
    CHECK(blocks[0].size == 8);
    CHECK(blocks[0].count == 10);
    CHECK(blocks[1].size == 1);
    CHECK(blocks[1].count == 40);
    CHECK(cells(r.x / 8, r.x % 8).size() == 1);  // of an RVar once
    CHECK(cells(odd.x / 8, odd.y).size() ==
          1);  // 3 to 7 and 8 to 15 are not split at multiples of 8
    CHECK(cells(r.x + r.y, r.x - r.y).empty());
    CHECK(cells(r.x % 8, r.y * 2).empty());
}

TEST_CASE("a scan has no cells", "[autoschedule]") {
    Var x("x"), y("y");
    const RDom r(1, 80, "r");
    Func f("f");
    f(x, y) = x + y;
    f(r.x, y) += f(r.x - 1, y);
    CHECK(price(f, {{0, 99}, {0, 99}}).node("f").stages[1].cells.empty());
}

TEST_CASE("a scatter is parallel over its cells", "[autoschedule]") {
    Buffer<uint8_t> image(203, 158);
    image.fill([](int x, int y) { return uint8_t(x * 31 + y * 17 + x * y); });
    Grid p(image), reference(image);
    AutoscheduleOptions options;
    options.cores = GENERATE(1, 4);
    Pipeline pipeline(p.grid);
    pipeline.autoschedule(get_host_target(), options);
    const Buffer<int> result = pipeline.realize({26, 20, 8, 2});
    const std::string loops = pipeline.schedule_source();
    INFO(loops);
    CHECK((loops.find("allow_race_conditions") != std::string::npos) == (options.cores > 1));
    Buffer<int> expected(26, 20, 8, 2);
    Pipeline(reference.grid).realize_reference(expected);
    int64_t wrong = 0;
    expected.for_each_element(
        [&](int x, int y, int z, int c) { wrong += result(x, y, z, c) != expected(x, y, z, c); });
    CHECK(wrong == 0);
}

namespace {

/// Of cells of 4 x 4 pixels, the sum per brightness, and how many they are.
struct Bins {
    Var x{"x"}, y{"y"}, c{"c"};
    RDom r{0, 4, 0, 4, "r"};
    Func bins{"bins"}, out{"out"};

    Bins(const Buffer<uint8_t> &image, bool much_to_compute) {
        Var z("z");
        const Expr value = image(4 * x + r.x, 4 * y + r.y);
        Expr bright = cast<float>(value) / 255.0f;
        for (int i = 0; i < 16 && much_to_compute; i++)
            bright = bright * 0.9f + bright * bright * 0.1f;
        bins(x, y, z, c) = 0;
        bins(x, y, clamp(cast<int>(bright * 7.0f), 0, 7), c) += select(c == 0, cast<int>(value), 1);
        out(x, y, c) = bins(x, y, 0, c) * 3 + bins(x, y, 5, c);
    }
};

}  // namespace

TEST_CASE(
    "a scatter by data takes the channels of a point at once, and vectors only for much to compute",
    "[autoschedule]") {
    Buffer<uint8_t> image(400, 320);
    image.fill([](int x, int y) { return uint8_t(x * 31 + y * 17 + x * y); });
    const bool much_to_compute = GENERATE(false, true);
    Bins p(image, much_to_compute), reference(image, much_to_compute);
    Pipeline pipeline(p.out);
    pipeline.autoschedule(get_host_target());
    const Buffer<int> result = pipeline.realize({100, 80, 2});
    const std::string source = pipeline.schedule_source();
    INFO(source);
    const size_t update = source.find("bins.update(0)\n");
    REQUIRE(update != std::string::npos);
    const std::string loops = source.substr(update, source.find(';', update) - update);
    CHECK((loops.find("vectorize") != std::string::npos) == much_to_compute);
    CHECK((much_to_compute || loops.find("unroll(c_u)") != std::string::npos));
    Buffer<int> expected(100, 80, 2);
    Pipeline(reference.out).realize_reference(expected);
    int64_t wrong = 0;
    expected.for_each_element(
        [&](int x, int y, int c) { wrong += result(x, y, c) != expected(x, y, c); });
    CHECK(wrong == 0);
}
