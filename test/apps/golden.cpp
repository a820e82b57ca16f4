// Blur, unsharp mask, Harris: golden values computed in double precision by a separate program, under
// every schedule.
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
        check_golden(out, {.tolerance = 1e-5,
                           .elements = {{0, 0, 0, -0.46034007},
                                        {7, 5, 0, 1.05646446},
                                        {23, 15, 2, 0.12564338},
                                        {0, 8, 1, 1.81426164}},
                           .sum = 693.594884,
                           .min = -1.72758885,
                           .max = 2.98351716});
    }
}

TEST_CASE("unsharp: golden values of section 1.3, weight 4") {
    for (Way way : all) {
        INFO(name_of(way));
        apps::Unsharp program(4);
        const Buffer<double> out = run("unsharp", program, {24, 16}, way);
        check_golden(out, {.tolerance = 1e-5,
                           .elements = {{0, 0, 0, -0.61378677}, {7, 5, 0, 1.20208333}},
                           .sum = 737.402328});
    }
}

TEST_CASE("unsharp_halide: golden values of section 1.3") {
    for (Way way : all) {
        INFO(name_of(way));
        const Buffer<double> out = run(app_named("unsharp_halide"), {24, 16}, way);
        check_golden(out, {.tolerance = 1e-5,
                           .elements = {{0, 0, 0, 0.00401974},
                                        {5, 7, 0, 0.84945033},
                                        {23, 15, 2, 0.14282718},
                                        {8, 0, 1, 0.99960960}},
                           .sum = 571.691187});
    }
}

TEST_CASE("harris: golden values of section 2.3") {
    const double tolerance = 1e-4 * 0.0190814195;
    for (Way way : all) {
        INFO(name_of(way));
        const Buffer<double> out = run(app_named("harris"), {22, 14}, way);
        REQUIRE(out.number_of_elements() == 308);
        check_golden(out, {.tolerance = tolerance,
                           .elements = {{2, 2, 0, 0.0016619887},
                                        {7, 5, 0, 0.0046419021},
                                        {23, 15, 0, 0.0045644202},
                                        {2, 8, 0, 0.0022319238}},
                           .sum = 1.03788134,
                           .min = 7.84829e-5,
                           .max = 0.0190814195});
    }
}
