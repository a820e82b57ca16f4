// Histograms whose loops over the picture run in parallel.
#include <pipe/pipe.h>

#include <string>

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
