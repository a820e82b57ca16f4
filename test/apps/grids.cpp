// Bilateral grid.
#include "apps/common/inputs.h"
#include "test/apps/support.h"

using namespace app_test;
using Pipe::Buffer;

namespace {

const char *const variants[] = {"bilateral_grid_a", "bilateral_grid_b", "bilateral_grid_c"};

}  // namespace

TEST_CASE("bilateral grid: golden values of section 3.4") {
    const double expected[3][5] = {
        {0.09987938, 0.66056591, 0.75374982, 0.13243138, 811.428514},
        {0.02264035, 0.60489256, 0.70668858, 0.11012491, 750.352958},
        {0.02084896, 0.61212973, 0.70919322, 0.11000943, 752.000219},
    };
    for (int i = 0; i < 3; ++i) {
        for (Way way : all) {
            INFO(variants[i] << " " << name_of(way));
            const Buffer<double> out = run(app_named(variants[i]), {48, 32}, way);
            check_golden(out, {.tolerance = 1e-5,
                               .elements = {{0, 0, 0, expected[i][0]},
                                            {7, 5, 0, expected[i][1]},
                                            {47, 31, 0, expected[i][2]},
                                            {23, 16, 0, expected[i][3]}},
                               .sum = expected[i][4]});
        }
    }
}

// One bin of the grid is 0.1. The values n/256 have odd n: neither 10 n/256 nor 10 n/256 + 1/2 is an
// integer, so that no rounding puts a pixel into another bin.
TEST_CASE("bilateral grid: 0.1 more everywhere is 0.1 more in the output") {
    const apps::Size size{61, 43};
    auto picture = [](int x, int y, int) { return (64 + (apps::u8(x, y, 0) / 8) * 4 + 1) / 256.0; };
    auto brighter = [&](int x, int y, int) { return picture(x, y, 0) + 0.1; };
    for (const char *name : variants) {
        for (Way way : compiled) {
            INFO(name << " " << name_of(way));
            Scheduled smooth(app_named(name), way);
            const Buffer<double> before = smooth.run(size, picture);
            const Buffer<double> after = smooth.run(size, brighter);
            CHECK(max(before) - min(before) > 0.1);
            CHECK(error(after, [&](int x, int y, int) { return before(x, y) + 0.1; }) <= 1e-5);
        }
    }
}

TEST_CASE("bilateral grid keeps a flat image, and two levels half of the range apart") {
    const apps::Size size{61, 43};
    for (const char *name : variants) {
        // the frame of variant B does not matter here: the step is at a row and column of the input
        auto step = [](int x, int y, int) { return (x / 19 + y / 17) % 2 ? 0.8125 : 0.25; };
        const int shift = name == variants[1] ? 24 : 0;
        for (Way way : compiled) {
            INFO(name << " " << name_of(way));
            Scheduled smooth(app_named(name), way);
            for (double v : {0.0, 0.375, 1.0}) {
                const Buffer<double> flat = smooth.run(size, [&](int, int, int) { return v; });
                CHECK(error(flat, [&](int, int, int) { return v; }) <= 1e-5);
            }
            const Buffer<double> out = smooth.run(size, step);
            CHECK(error(out, [&](int x, int y, int) { return step(x + shift, y + shift, 0); }) <=
                  1e-5);
        }
    }
}
