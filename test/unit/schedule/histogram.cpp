// Histograms whose loops over the picture run in parallel.
#include <pipe/pipe.h>

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace Pipe;

TEST_CASE("a parallel histogram looks at each pixel once", "[schedule]") {
    Var x("x");
    Func hist("hist");
    Buffer<uint8_t> image(40, 30);
    image.fill([](int i, int j) { return (i * 7 + j * 13) & 255; });
    RDom r(0, 40, 0, 30, "r");
    hist(x) = 0;
    hist(cast<int>(image(r.x, r.y))) += 1;
    hist.update().parallel(r.y);
    const std::string loops = Pipeline(hist).loop_nest();
    CHECK(loops.find("produce hist_parts.update(0):\n  parallel") != std::string::npos);
    Buffer<int> bins = hist.realize({256});
    int pixels = 0;
    bins.for_each_value([&](int n) { pixels += n; });
    CHECK(pixels == 40 * 30);
    CHECK(bins(7) >= 1);
}

TEST_CASE("the tables of a parallel histogram are combined in vectors", "[schedule]") {
    Var x("x"), y("y");
    Func hist("hist");
    Buffer<uint8_t> image(40, 30);
    image.fill([](int i, int j) { return (i * 7 + j * 13) & 255; });
    RDom r(0, 40, 0, 30, "r");
    hist(x, y) = 3;
    hist(cast<int>(image(r.x, r.y)) & 31, r.x & 1) += 1;
    hist.update().parallel(r.y);
    const std::string loops = Pipeline(hist).loop_nest();
    INFO(loops);
    CHECK(loops.find("vectorized x_lanes") != std::string::npos);
    Buffer<int> bins = hist.realize({37, 2}), expected(37, 2);
    expected.fill(3);
    for (int j = 0; j < 30; j++)
        for (int i = 0; i < 40; i++)
            expected(image(i, j) & 31, i & 1)++;
    bins.for_each_element([&](int i, int j) { CHECK(bins(i, j) == expected(i, j)); });
}

TEST_CASE("each lane of a histogram has a table of its own", "[schedule]") {
    Var x("x");
    RVar columns("columns"), lanes("lanes");
    for (const bool parallel : {false, true}) {
        for (const int width : {40, 43}) {
            Buffer<uint8_t> image(width, 30);
            image.fill([](int i, int j) { return (i * 7 + j * 13) & 63; });
            RDom r(0, width, 0, 30, "r");
            Func hist("hist");
            hist(x) = 5;
            hist(cast<int>(image(r.x, r.y))) += 1;
            hist.update()
                .split(r.x, columns, lanes, 4)
                .reorder(lanes, columns, r.y)
                .vectorize(lanes);
            if (parallel)
                hist.update().parallel(r.y);
            const std::string loops = Pipeline(hist).loop_nest();
            INFO(loops);
            CHECK(loops.find("unrolled lanes_part") != std::string::npos);
            CHECK(loops.find("vectorized") == std::string::npos);
            CHECK((loops.find("parallel") != std::string::npos) == parallel);
            const Buffer<int> bins = hist.realize({64});
            std::vector<int> expected(64, 5);
            image.for_each_value([&](uint8_t value) { expected[value]++; });
            for (int i = 0; i < 64; i++)
                CHECK(bins(i) == expected[size_t(i)]);
        }
    }
}

TEST_CASE("lanes of a scatter that compute much are vectors", "[schedule]") {
    Var x("x");
    RVar outer("outer"), lanes("lanes");
    Buffer<float> values(64);
    values.fill([](int i) { return float(i) * 0.1f; });
    RDom r(0, 64, "r");
    Func hist("hist");
    const Expr v = values(r);
    hist(x) = 0;
    hist(clamp(cast<int>(v * v * v * 0.3f + v * v * 0.2f - v * 0.7f + 4.0f), 0, 15)) += 1;
    hist.update().split(r, outer, lanes, 8).vectorize(lanes);
    CHECK(Pipeline(hist).loop_nest().find("vectorized lanes_part") != std::string::npos);
    const Buffer<int> bins = hist.realize({16});
    int sum = 0;
    bins.for_each_value([&](int n) { sum += n; });
    CHECK(sum == 64);
}
