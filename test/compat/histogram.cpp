// A program written for Halide's JIT API, with the name of the header changed and nothing else.
#include <catch2/catch_test_macros.hpp>

#include <pipe/halide.h>

using namespace Halide;

namespace {

Func histogram_equalized(Func input, Expr width, Expr height) {
    Var x("x"), y("y"), i("i");
    Func histogram("histogram"), cumulative("cumulative"), result("result");
    RDom r(0, width, 0, height);
    histogram(i) = 0;
    histogram(cast<int>(input(r.x, r.y))) += 1;
    RDom b(1, 255);
    cumulative(i) = histogram(i);
    cumulative(b.x) = cumulative(b.x - 1) + cumulative(b.x);
    Expr scaled =
        cast<float>(cumulative(cast<int>(input(x, y)))) * 255.0f / cast<float>(width * height);
    result(x, y) = cast<uint8_t>(clamp(scaled, 0.0f, 255.0f));

    histogram.compute_root();
    cumulative.compute_root();
    Var xi, yi, tile;
    result.tile(x, y, xi, yi, 16, 8).fuse(x, y, tile).parallel(tile).vectorize(xi);
    return result;
}

}  // namespace

TEST_CASE("a Halide program", "[halide]") {
    Buffer<uint8_t> input(64, 32);
    input.for_each_element(
        [&](int x, int y) { input(x, y) = static_cast<uint8_t>((x * x + 3 * y) % 100); });
    Var x, y;
    Func clamped = BoundaryConditions::repeat_edge(input);
    Func bright("bright");
    bright(x, y) = cast<uint8_t>(min(cast<uint16_t>(clamped(x, y)) + 20, 255));
    Func result = histogram_equalized(bright, input.width(), input.height());
    Buffer<uint8_t> output = result.realize({input.width(), input.height()});

    std::vector<int> count(256, 0);
    input.for_each_value([&](uint8_t v) { count[std::min(v + 20, 255)]++; });
    for (int v = 1; v < 256; v++)
        count[v] += count[v - 1];
    bool same = true;
    input.for_each_element([&](int x, int y) {
        float scaled =
            static_cast<float>(count[std::min(input(x, y) + 20, 255)]) * 255.0f / (64.0f * 32.0f);
        same &= output(x, y) == static_cast<uint8_t>(scaled);
    });
    CHECK(same);
}
