// Blur, unsharp mask, Harris: the golden values of benchmarks.md (computed in double precision by a
// separate program) under every schedule, at the tolerances given there.
#include "apps/unsharp/unsharp.h"
#include "test/apps/support.h"

#include <catch2/catch_test_macros.hpp>

#include <cmath>

using namespace app_test;
using Pipe::Buffer;

TEST_CASE("blur: golden values of section 16, exact") {
    for (Way way : all) {
        INFO(name_of(way));
        const Buffer<double> out = run(app_named("blur"), {32, 16}, way);
        CHECK(out(0, 0) == 1875);
        CHECK(out(7, 5) == 2252);
        CHECK(out(31, 15) == 1926);
        CHECK(sum(out) == 1035736);
    }
}

TEST_CASE("unsharp: golden values of section 1.3, weight 3") {
    for (Way way : all) {
        INFO(name_of(way));
        const Buffer<double> out = run(app_named("unsharp"), {24, 16}, way);
        CHECK_NEAR(out(0, 0, 0), -0.46034007, 1e-5);
        CHECK_NEAR(out(7, 5, 0), 1.05646446, 1e-5);
        CHECK_NEAR(out(23, 15, 2), 0.12564338, 1e-5);
        CHECK_NEAR(out(0, 8, 1), 1.81426164, 1e-5);
        CHECK_NEAR(sum(out), 693.594884, 1152 * 1e-5);
        CHECK_NEAR(min(out), -1.72758885, 1e-5);
        CHECK_NEAR(max(out), 2.98351716, 1e-5);
    }
}

TEST_CASE("unsharp: golden values of section 1.3, weight 4") {
    const apps::App &app = app_named("unsharp");
    const apps::Size size{24, 16};
    for (Way way : all) {
        INFO(name_of(way));
        apps::Unsharp program(4);
        const Buffer<double> out =
            run(app, program, size, apps::make_inputs(app, program, size), way);
        CHECK_NEAR(out(0, 0, 0), -0.61378677, 1e-5);
        CHECK_NEAR(out(7, 5, 0), 1.20208333, 1e-5);
        CHECK_NEAR(sum(out), 737.402328, 1152 * 1e-5);
    }
}

TEST_CASE("unsharp_halide: golden values of section 1.3") {
    for (Way way : all) {
        INFO(name_of(way));
        const Buffer<double> out = run(app_named("unsharp_halide"), {24, 16}, way);
        CHECK_NEAR(out(0, 0, 0), 0.00401974, 1e-5);
        CHECK_NEAR(out(5, 7, 0), 0.84945033, 1e-5);
        CHECK_NEAR(out(23, 15, 2), 0.14282718, 1e-5);
        CHECK_NEAR(out(8, 0, 1), 0.99960960, 1e-5);
        CHECK_NEAR(sum(out), 571.691187, 1152 * 1e-5);
    }
}

TEST_CASE("harris: golden values of section 2.3") {
    const double tolerance = 1e-4 * 0.0190814195;
    for (Way way : all) {
        INFO(name_of(way));
        const Buffer<double> out = run(app_named("harris"), {22, 14}, way);
        REQUIRE(out.number_of_elements() == 308);
        CHECK_NEAR(out(2, 2), 0.0016619887, tolerance);
        CHECK_NEAR(out(7, 5), 0.0046419021, tolerance);
        CHECK_NEAR(out(23, 15), 0.0045644202, tolerance);
        CHECK_NEAR(out(2, 8), 0.0022319238, tolerance);
        CHECK_NEAR(sum(out), 1.03788134, 308 * tolerance);
        CHECK_NEAR(min(out), 7.84829e-5, tolerance);
        CHECK_NEAR(max(out), 0.0190814195, tolerance);
    }
}
