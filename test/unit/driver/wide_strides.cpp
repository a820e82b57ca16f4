// Strides of more than 2^31 elements, in memory of which few pages are ever touched.
#include <pipe/pipe.h>

#include <catch2/catch_test_macros.hpp>

#include <sys/mman.h>

using namespace Pipe;

namespace {

/// Address space that takes memory only where it is touched.
struct Sparse {
    size_t bytes;
    void *memory;
    explicit Sparse(size_t n)
        : bytes(n), memory(mmap(nullptr, n, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
    ~Sparse() {
        if (good())
            munmap(memory, bytes);
    }
    bool good() const { return memory != MAP_FAILED; }
};

constexpr int64_t stride = (int64_t{1} << 31) + 17;

}  // namespace

TEST_CASE("inputs and outputs with strides beyond 2^31", "[driver][big]") {
    constexpr int width = 70, height = 4;
    Sparse a(stride * height), b(stride * height);
    if (!a.good() || !b.good()) {
        WARN("no address space: not tested");
        return;
    }
    std::vector<BufferDim> shape = {{0, width, 1}, {0, height, stride}};
    Buffer<uint8_t> in(static_cast<uint8_t *>(a.memory), shape);
    Buffer<uint8_t> out(static_cast<uint8_t *>(b.memory), shape);
    in.fill([](int i, int j) { return uint8_t(i + 50 * j); });
    for (int schedule = 0; schedule < 4; schedule++) {
        INFO(schedule);
        Var x("x"), y("y"), xi("xi"), yi("yi");
        Func f("f"), g("g");
        f(x, y) = in(x, y) + in(clamp(x + 1, 0, width - 1), y);
        g(x, y) = cast<uint8_t>(f(x, y) * 2);
        if (schedule == 1)
            f.compute_root(), g.vectorize(x, 16).parallel(y);
        if (schedule == 2)
            g.tile(x, y, xi, yi, 32, 2).vectorize(xi, 8), f.compute_at(g, x);
        if (schedule == 3)
            g.reorder(y, x).unroll(y, 2);
        out.fill(0);
        g.realize(out);
        int wrong = 0;
        out.for_each_element([&](int i, int j) {
            uint8_t next = in(std::min(i + 1, width - 1), j);
            wrong += out(i, j) != uint8_t(uint8_t(in(i, j) + next) * 2);
        });
        CHECK(wrong == 0);
    }
    Buffer<uint8_t> mirrored(static_cast<uint8_t *>(b.memory) + stride * (height - 1),
                             {{0, width, 1}, {0, height, -stride}});
    Var x("x"), y("y");
    Func copy("copy");
    copy(x, y) = in(x, y);
    copy.vectorize(x, 16);
    copy.realize(mirrored);
    CHECK(out(5, height - 1) == in(5, 0));
    CHECK(out(69, 0) == in(69, height - 1));
}

TEST_CASE("loops fused to more than 2^31 iterations are refused", "[driver][big][error]") {
    constexpr int64_t n = 1 << 17;
    Sparse memory(n * n);
    if (!memory.good()) {
        WARN("no address space: not tested");
        return;
    }
    Var x("x"), y("y"), t("t");
    Func f("f");
    f(x, y) = cast<uint8_t>(x + y);
    f.fuse(x, y, t);
    Buffer<uint8_t> out(static_cast<uint8_t *>(memory.memory), {{0, n, 1}, {0, n, n}});
    std::string message;
    try {
        f.realize(out);
    } catch (const RuntimeError &e) {
        message = e.what();
    }
    INFO(message);
    for (const char *part : {"Pipeline f", "loop t", "fuses x and y", "131072", "2^31"})
        CHECK(message.find(part) != std::string::npos);
    Buffer<uint8_t> small(7, 5);
    f.realize(small);
    CHECK(small(6, 4) == 10);
}
