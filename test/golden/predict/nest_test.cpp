// Lowered programs in numbers: loops with their iterations, instructions and accesses.

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "support/golden.h"
#include "unit/predict/model.h"

using namespace test;

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi");

}  // namespace

TEST_CASE("numbers of a sliding window", "[golden]") {
    ImageParam in(UInt(16), 2, "in");
    Func bx("bx"), by("by");
    bx(x, y) = (in(x, y) + in(x + 1, y) + in(x + 2, y)) / 3;
    by(x, y) = (bx(x, y) + bx(x, y + 1) + bx(x, y + 2)) / 3;
    by.split(y, y, yi, 32).parallel(y).vectorize(x, 32);
    bx.store_at(by, y).compute_at(by, yi).vectorize(x, 32);
    CHECK_GOLDEN("predict/sliding_window.txt", nest_of(by, {{1280, 960}, {1282, 962}}));
}

TEST_CASE("numbers of a product in register blocks", "[golden]") {
    ImageParam a(Float(32), 2, "a"), b(Float(32), 2, "b");
    Func sum("sum"), out("out");
    RDom k(0, 256, "k");
    sum(x, y) = 0.0f;
    sum(x, y) += a(k, y) * b(x, k);
    out(x, y) = sum(x, y);
    out.tile(x, y, xi, yi, 32, 4).vectorize(xi, 16).unroll(xi).unroll(yi);
    sum.compute_at(out, x).vectorize(x, 16).unroll(x).unroll(y);
    sum.update().reorder(x, y, k).vectorize(x, 16).unroll(x).unroll(y);
    CHECK_GOLDEN("predict/register_block.txt", nest_of(out, {{256, 256}, {256, 256}, {256, 256}}));
}

TEST_CASE("numbers of a histogram and a gather", "[golden]") {
    ImageParam in(UInt(8), 2, "in");
    Func histogram("histogram"), out("out");
    RDom r(0, 640, 0, 480, "r");
    histogram(x) = 0;
    histogram(cast<int>(in(r.x, r.y))) += 1;
    histogram.compute_root();
    out(x, y) = histogram(cast<int>(in(x, y)));
    out.vectorize(x, 16);
    CHECK_GOLDEN("predict/histogram.txt", nest_of(out, {{640, 480}, {640, 480}}));
}
