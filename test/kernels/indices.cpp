// Indices in kernels have 32 bits, where no buffer needs more; loads under a condition.
#include <catch2/catch_test_macros.hpp>
#include <pipe/pipe.h>

#include "test/support/gpu_targets.h"

#include <sys/mman.h>

#include <memory>

using namespace Pipe;

namespace {

/// Address space, of which only the pages that are accessed take memory.
class Pages {
  public:
    explicit Pages(size_t bytes)
        : bytes_(bytes), begin_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
        REQUIRE(begin_ != MAP_FAILED);
    }
    ~Pages() { munmap(begin_, bytes_); }
    Pages(const Pages &) = delete;
    uint8_t *begin() const { return static_cast<uint8_t *>(begin_); }

  private:
    size_t bytes_;
    void *begin_;
};

}  // namespace

// [.large]: only on a GPU, and only where asked for. (The emulator keeps a note of each element.)

TEST_CASE("kernels reach elements beyond 2^31 of an input whose rows are far apart",
          "[gpu][.large]") {
    constexpr int64_t far = int64_t{1} << 31;
    constexpr int width = 40, rows = 2;
    Pages pages(static_cast<size_t>(far * (rows - 1) + width));
    Buffer<uint8_t> input(pages.begin(), {{0, width, 1}, {0, rows, far}});
    input.fill([](int x, int y) { return uint8_t(3 * x + 100 * y); });
    ImageParam in(UInt(8), 2, "in");
    in.set(input);
    in.dim(0).set_stride(1);
    Func out("out");
    Var x("x"), y("y"), xo("xo"), xi("xi");
    out(x, y) = in(x, y) + in(x, 1 - y);
    out.gpu_tile(x, xo, xi, 16);
    const Buffer<uint8_t> result = out.realize({width, rows}, Target("host-cuda"));
    int wrong = 0;
    result.for_each_element(
        [&](int px, int py) { wrong += result(px, py) != uint8_t(6 * px + 100); });
    CHECK(wrong == 0);
}

TEST_CASE("an intermediate Func beyond 2^31 elements", "[gpu][.large]") {
    Func big("big"), out("out");
    Var x("x"), y("y"), xo("xo"), xi("xi");
    big(x, y) = cast<uint8_t>(x + 7 * y);
    out(x) = big(0, x) + big(1 << 28, x);
    big.compute_root().split(x, xo, xi, 256).gpu_blocks(xo, y).gpu_threads(xi);
    out.gpu_tile(x, xo, xi, 8);
    const Buffer<uint8_t> result = out.realize({8}, Target("host-cuda"));
    for (int i = 0; i < 8; i++)
        CHECK(result(i) == uint8_t(14 * i));
}

TEST_CASE("loads under conditions access nothing where these do not hold", "[gpu]") {
    ImageParam in(Float(32), 2, "in"), narrow(Float(32), 2, "narrow");
    Func out("out"), shared("shared");
    Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");
    const Expr inside = x >= 3 && x < 60 && y < 20;
    const Func zero = BoundaryConditions::constant_exterior(in, 2.0f, {{4, 50}, {5, 12}});
    shared(x, y) = zero(x, y) * 2.0f;
    // Of the conditions, one is in the other, and one holds in few threads.
    out(x, y) =
        select(inside, narrow(x, y) + select(x > 30, narrow(x - 28, y) * 0.5f, 7.0f), 1.0f) +
        zero(x - 1, y + 1) + select(x == y, in(clamp(x, 4, 50), clamp(y, 5, 16)), 3.0f) +
        select(x > 2, shared(x - 1, y), shared(x, y + 1));
    out.gpu_tile(x, y, xo, yo, xi, yi, 16, 4);
    shared.compute_at(out, xo).gpu_threads(x, y);
    Buffer<float> wide(80, 40), inner(57, 20);
    inner.set_min(3, 0);
    wide.fill([](int px, int py) { return float(px * 3 + py * 5) / 8; });
    inner.fill([](int px, int py) { return float(px - 2 * py) / 4; });
    in.set(wide);
    narrow.set(inner);
    const std::vector<int> sizes = {70, 33};
    const Buffer<float> expected = Pipeline(out).realize_reference(sizes);
    for (const Target &target : test::gpu_targets()) {
        const Buffer<float> result = out.realize(sizes, target);
        int wrong = 0;
        result.for_each_element(
            [&](int px, int py) { wrong += result(px, py) != expected(px, py); });
        CHECK(wrong == 0);
    }
}

TEST_CASE("Int(64) data in kernels keep all their bits", "[gpu]") {
    ImageParam in(Int(64), 1, "in");
    Func out("out");
    Var x("x"), xo("xo"), xi("xi");
    const Expr value = in(x)*3 - cast<int64_t>(x) * (int64_t{1} << 40);
    out(x) = value + in(cast<int32_t>(abs(value) % 32));
    out.gpu_tile(x, xo, xi, 8);
    Buffer<int64_t> input(40);
    input.fill([](int i) { return (int64_t{1} << 45) - (int64_t{1} << 33) * i + i; });
    in.set(input);
    const Buffer<int64_t> expected = Pipeline(out).realize_reference({40});
    for (const Target &target : test::gpu_targets()) {
        const Buffer<int64_t> result = out.realize({40}, target);
        for (int i = 0; i < 40; i++)
            CHECK(result(i) == expected(i));
    }
}
