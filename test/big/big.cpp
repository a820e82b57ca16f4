// More than 2^31 elements: outputs, storage of the pipeline's own, and a reduction over all. Takes
// some 7 GB; where they are not free, nothing is tested.
#include <pipe/pipe.h>

#include <catch2/catch_test_macros.hpp>

#include <fstream>
#include <string>

using namespace Pipe;

namespace {

constexpr int width = 50000, height = 44000;  // 2.2e9
static_assert(int64_t{width} * height > int64_t{1} << 31);

int64_t free_bytes() {
    std::ifstream in("/proc/meminfo");
    for (std::string key; in >> key;) {
        int64_t kilobytes = 0;
        if (key == "MemAvailable:" && in >> kilobytes)
            return kilobytes << 10;
    }
    return 0;
}

uint8_t expected(int64_t x, int64_t y) {
    return uint8_t(3 * x + 7 * y);
}

}  // namespace

TEST_CASE("2.2e9 elements", "[big]") {
    if (free_bytes() < int64_t{8} << 30) {
        WARN("less than 8 GiB of memory are free: not tested");
        return;
    }
    Var x("x"), y("y");
    Func inner("inner"), out("out");
    inner(x, y) = cast<uint8_t>(3 * x + 7 * y);
    out(x, y) = inner(x, y) + cast<uint8_t>(1);
    inner.compute_root().vectorize(x, 32).parallel(y);
    out.vectorize(x, 32).parallel(y);
    Buffer<uint8_t> image(width, height);
    out.realize(image);
    int64_t wrong = 0;
    for (int64_t j = 0; j < height; j += 7)
        for (int64_t i = j % 5; i < width; i += 13)
            wrong += image(i, j) != uint8_t(expected(i, j) + 1);
    CHECK(wrong == 0);
    CHECK(image(width - 1, height - 1) == uint8_t(expected(width - 1, height - 1) + 1));

    Func rows("rows"), total("total");
    RDom r(0, width), all(0, height);
    rows(y) = cast<int64_t>(0);
    rows(y) += cast<int64_t>(image(r, y));
    rows.compute_root().parallel(y), rows.update().parallel(y);
    total() = cast<int64_t>(0);
    total() += rows(all);
    Buffer<int64_t> sum = total.realize();
    int64_t plain = 0;
    const uint8_t *end = image.end();
    for (const uint8_t *p = image.begin(); p != end; p++)
        plain += *p;
    CHECK(sum() == plain);
}
