// Closed forms of blur, unsharp mask and Harris.
#include "test/apps/support.h"

#include <catch2/catch_test_macros.hpp>

#include <cmath>

using namespace app_test;
using Pipe::Buffer;

TEST_CASE("blur keeps a constant and moves a ramp by one") {
    for (Way way : compiled) {
        INFO(name_of(way));
        const Buffer<double> flat = run_on(
            "blur", {65, 33}, [](int, int, int) { return 77; }, way);
        CHECK(min(flat) == 77);
        CHECK(max(flat) == 77);
        const Buffer<double> ramp = run_on(
            "blur", {65, 33}, [](int x, int, int) { return 3 * x; }, way);
        CHECK(error(ramp, [](int x, int, int) { return 3 * (x + 1); }) == 0);
    }
}

TEST_CASE("blur_float keeps a constant and moves ramps by one") {
    const apps::Size size{65, 33};
    for (Way way : compiled) {
        INFO(name_of(way));
        Scheduled blur(app_named("blur_float"), way);
        auto flat = [](int, int, int) { return 0.625; };
        CHECK(error(blur.run(size, flat), flat) <= 1e-6);
        const Buffer<double> ramp = blur.run(size, [](int x, int y, int) { return 3 * x + 5 * y; });
        auto moved = [](int x, int y, int) { return 3 * (x + 1) + 5 * (y + 1); };
        CHECK(error(ramp, moved) <= 1e-6 * moved(64, 32, 0));
    }
}

TEST_CASE("unsharp keeps a flat image away from the ghost frame") {
    for (Way way : compiled) {
        INFO(name_of(way));
        const Buffer<double> flat = run_on(
            "unsharp", {40, 36},
            [](int x, int y, int) { return x < 0 || y < 0 || x >= 40 || y >= 36 ? 0 : 0.375; },
            way);
        CHECK(error(
                  flat, [](int, int, int) { return 0.375; }, 2) <= 1e-6);
        CHECK(std::abs(flat(0, 0, 0) - 0.375) > 0.1);  // the frame is seen at the edge
    }
}

TEST_CASE("unsharp_halide scales a flat image by 2 - s*s") {
    for (Way way : compiled) {
        INFO(name_of(way));
        const Buffer<double> flat = run_on(
            "unsharp_halide", {40, 36}, [](int, int, int c) { return 0.25 * (c + 1); }, way);
        CHECK(error(flat, [](int, int, int c) { return 0.25 * (c + 1) * 1.0345754; }) <= 2e-6);
    }
}

TEST_CASE("harris of a linear ramp") {
    const double a = 0.1, b = 0.05, expected = -0.64 * std::pow(a * a + b * b, 2);
    for (Way way : compiled) {
        INFO(name_of(way));
        const Buffer<double> ramp = run_on(
            "harris", {40, 36}, [&](int x, int y, int) { return a * y + b * x; }, way);
        // det cancels: the error is relative to the product of the sums that it is made of
        const double product = 16 * a * a * b * b;
        CHECK(error(ramp, [&](int, int, int) { return expected; }) <= 1e-4 * product);
    }
}

TEST_CASE("harris of the transposed picture is the transposed response") {
    const apps::App &app = *apps::find_app("harris");
    const apps::Size upright{37, 51}, lying{51, 37};
    for (Way way : compiled) {
        INFO(name_of(way));
        const Buffer<double> response = run(app, upright, way);
        const Buffer<double> of_transposed = run_on(
            "harris", lying,
            [&](int x, int y, int c) {
                return app.inputs[0].value({y, x, c}, upright);
            },
            way);
        CHECK(max_abs_difference(response, of_transposed.transposed(0, 1)) <=
              app.tolerance * max_abs(response));
    }
}

TEST_CASE("harris_halide of a gray picture is harris") {
    const apps::App &gray = *apps::find_app("harris");
    const apps::Size size{45, 39};
    auto pixel = [&](int x, int y, int) { return gray.inputs[0].value({x, y, 0}, size); };
    for (Way way : compiled) {
        INFO(name_of(way));
        const Buffer<double> rgb = run_on("harris_halide", size, pixel, way);
        // one more column and row of the gray form, so that both have what lies at (3, 3)
        const Buffer<double> all = run_on("harris", {size.width + 1, size.height + 1}, pixel, way);
        const Buffer<double> same = all.cropped({{3, size.width}, {3, size.height}});
        CHECK(max_abs_difference(rgb, same) <= gray.tolerance * max_abs(same));
    }
}
