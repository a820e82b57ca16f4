// Parallel loops.
#include <catch2/catch_test_macros.hpp>

#include "model.h"

using namespace test;

namespace {

Var x("x"), y("y"), yi("yi");

/// Much arithmetic per element, in so many tasks.
Prediction with_cores(int cores, int tasks, int rows = 960) {
    ImageParam in(Float(32), 2, "in");
    Func out("out");
    out(x, y) = sin(in(x, y)) * cos(in(x, y));
    out.split(y, y, yi, rows / tasks).parallel(y).vectorize(x, 16);
    return predicted(out, {{1024, rows}, {1024, rows}}, Setup(cores));
}

}  // namespace

TEST_CASE("more cores are never slower in a large parallel loop") {
    double before = with_cores(1, 96).milliseconds;
    for (int cores = 2; cores <= 64; cores++) {
        const double ms = with_cores(cores, 96).milliseconds;
        INFO(cores << " cores: " << ms << " ms, before: " << before);
        CHECK(ms <= 1.001 * before);
        before = ms;
    }
}

TEST_CASE("four cores are nearly four times as fast where arithmetic is the limit") {
    const double ratio = with_cores(1, 96).milliseconds / with_cores(4, 96).milliseconds;
    CHECK(ratio > 3.4);
    CHECK(ratio <= 4);
}

TEST_CASE("five tasks on four cores take two rounds") {
    const double four = with_cores(4, 4).milliseconds, five = with_cores(4, 5).milliseconds,
                 eight = with_cores(4, 8).milliseconds;
    CHECK(five > 1.4 * four);  // of a fifth less work each
    CHECK(eight < 1.1 * four);
}

TEST_CASE("all cores share the rate of memory") {
    ImageParam in(Float(32), 2, "in");
    Func out("out");
    out(x, y) = in(x, y);
    out.parallel(y, 16).vectorize(x, 16);
    const Extents sizes{{8192, 8192}, {8192, 8192}};
    const double one = stage(predicted(out, sizes, Setup(1)), "out").dram;
    const double two = stage(predicted(out, sizes, Setup(2)), "out").dram;
    const double eight = stage(predicted(out, sizes, Setup(8)), "out").dram;
    CHECK(one / two > 1.9);
    CHECK(one / eight < 2.1);  // twice the rate of one
}

TEST_CASE("an inner parallel loop has the cores that the outer one leaves") {
    auto nested = [](int outer) {
        ImageParam in(Float(32), 2, "in");
        Func out("out");
        out(x, y) = sin(in(x, y));
        out.split(y, y, yi, 960 / outer).parallel(y).parallel(yi).vectorize(x, 16);
        return predicted(out, {{1024, 960}, {1024, 960}}, Setup(8)).milliseconds;
    };
    CHECK(nested(2) < 1.3 * nested(8));
}

TEST_CASE("a small loop is not worth a wake-up") {
    auto small = [](bool parallel) {
        ImageParam in(Float(32), 2, "in");
        Func out("out");
        out(x, y) = in(x, y) + 1.0f;
        out.vectorize(x, 16);
        if (parallel)
            out.parallel(y);
        return predicted(out, {{64, 8}, {64, 8}}, Setup(8)).milliseconds;
    };
    CHECK(small(true) > 3 * small(false));
}
