// Loops of a reduction over the threads and blocks of a GPU: each has private accumulators, which are combined.
#include <catch2/catch_test_macros.hpp>
#include <pipe/pipe.h>

#include "jit/runtime/gpu/emulator.h"
#include "test/support/gpu_targets.h"

#include <functional>

using namespace Pipe;

namespace {

/// An image of integers, and sums of it.
struct Image {
    ImageParam in{Int(32), 2, "in"};
    Var x{"x"}, y{"y"}, xo{"xo"}, xi{"xi"}, yo{"yo"}, yi{"yi"};
    RVar rxo{"rxo"}, rxi{"rxi"}, rxt{"rxt"}, ryo{"ryo"}, ryi{"ryi"}, ryt{"ryt"};
    Func f{"f"};

    Image(int width, int height) {
        Buffer<int> input(width, height);
        input.fill([](int px, int py) { return (px * 37 + py * 101) % 255 - 90; });
        in.set(input);
    }

    /// Whether all elements are what they are on the CPU without a schedule; the launches of the emulator.
    std::vector<runtime::EmulatorCounters> check(const std::vector<int> &sizes) {
        const Buffer<int> expected = Pipeline(f).realize_reference(sizes);
        std::vector<runtime::EmulatorCounters> launches;
        for (const Target &target : test::gpu_targets()) {
            runtime::emulated_device().start_counting();
            const Buffer<int> result = f.realize(sizes, target);
            auto counted = runtime::emulated_device().stop_counting();
            int wrong = 0;
            result.for_each_element([&](const int *at) {
                wrong += value(result, at) != value(expected, at);
            });
            CHECK(wrong == 0);
            if (target.has_feature(Target::CUDAEmulator))
                launches = std::move(counted);
        }
        return launches;
    }

    static int value(const Buffer<int> &b, const int *at) {
        return b.dimensions() == 0 ? b() : b.dimensions() == 1 ? b(at[0]) : b(at[0], at[1]);
    }
};

}  // namespace

TEST_CASE("the sum of an image over blocks and threads", "[gpu]") {
    Image i(70, 45);
    RDom r(0, 70, 0, 45);
    i.f() = 0;
    i.f() += i.in(r.x, r.y);
    i.f.gpu_single_thread();
    i.f.update()
        .split(r.x, i.rxo, i.rxi, 32)
        .split(r.y, i.ryo, i.ryi, 8)
        .reorder(i.ryi, i.rxo, i.rxi, i.ryo)
        .gpu_threads(i.rxi)
        .gpu_blocks(i.ryo);
    const auto launches = i.check({});
    REQUIRE(launches.size() >= 2);
    int64_t most_blocks = 0, most_threads = 0;
    for (const auto &l : launches) {
        most_blocks = std::max<int64_t>(most_blocks, l.blocks[0]);
        most_threads = std::max<int64_t>(most_threads, l.threads[0]);
    }
    CHECK(most_blocks == 6);
    CHECK(most_threads == 32);
}

TEST_CASE("parts of blocks are combined in two steps, those of threads too", "[gpu]") {
    Image i(200, 90);
    RDom r(0, 200, 0, 90);
    RVar rxu("rxu"), ryu("ryu");
    i.f() = -1000;
    i.f() = max(i.f(), i.in(r.x, r.y));
    i.f.gpu_single_thread();
    i.f.update()
        .split(r.x, i.rxo, i.rxi, 64)
        .split(i.rxi, rxu, i.rxt, 8)
        .split(r.y, i.ryo, i.ryi, 7)
        .split(i.ryo, i.ryt, ryu, 4)
        .reorder(i.ryi, i.rxo, i.rxt, rxu, ryu, i.ryt)
        .gpu_threads(i.rxt, rxu)
        .gpu_blocks(ryu, i.ryt);
    i.check({});
}

TEST_CASE("sums of columns: threads along the columns, and along the rows that they add", "[gpu]") {
    Image i(75, 50);
    RDom r(0, 50);
    RVar ro("ro"), ri("ri"), rt("rt"), rs("rs");
    i.f(i.x) = 7;
    i.f(i.x) += i.in(i.x, r) * (r + 1);
    i.f.gpu_tile(i.x, i.xo, i.xi, 32);
    i.f.update()
        .split(i.x, i.xo, i.xi, 32)
        .split(r, ro, ri, 24)
        .split(ri, rt, rs, 6)
        .reorder(rs, i.xi, rt, i.xo, ro)
        .gpu_threads(i.xi, rt)
        .gpu_blocks(i.xo, ro);
    const auto launches = i.check({75});
    CHECK(std::any_of(launches.begin(), launches.end(), [](const auto &l) {
        return l.threads == std::array<int32_t, 3>{32, 4, 1} &&
               l.blocks == std::array<int32_t, 3>{3, 3, 1};
    }));
}

TEST_CASE("sums of rows: threads along a row", "[gpu]") {
    Image i(130, 21);
    RDom r(0, 130);
    RVar ro("ro"), rt("rt");
    i.f(i.y) = 0;
    i.f(i.y) += select(r > 3, i.in(r, i.y), 5);
    i.f.gpu_tile(i.y, i.xo, i.xi, 8);
    i.f.update()
        .split(i.y, i.xo, i.xi, 8)
        .split(r, ro, rt, 32)
        .reorder(ro, rt, i.xi, i.xo)
        .gpu_threads(rt, i.xi)
        .gpu_blocks(i.xo);
    const auto launches = i.check({21});
    CHECK(std::any_of(launches.begin(), launches.end(), [](const auto &l) {
        return l.threads == std::array<int32_t, 3>{32, 8, 1};
    }));
}

TEST_CASE("two sums at once, over blocks and threads, with a condition", "[gpu]") {
    Image i(83, 60);
    RDom r(0, 83, 0, 60);
    r.where(r.x + r.y > 20);
    Func sums("sums");
    const Expr value = i.in(r.x, r.y);
    sums() = Tuple(0, 3);
    sums() = Tuple(sums()[0] + value, sums()[1] + value * value);
    i.f(i.x) = select(i.x == 0, sums()[0], sums()[1]);
    i.f.gpu_tile(i.x, i.xi, 4);
    sums.compute_root().gpu_single_thread();
    sums.update()
        .split(r.x, i.rxo, i.rxi, 16)
        .split(r.y, i.ryo, i.ryi, 9)
        .reorder(i.ryi, i.rxo, i.rxi, i.ryo)
        .gpu_threads(i.rxi)
        .gpu_blocks(i.ryo);
    i.check({2});
}

// Found by the fuzzer, seed 51000053.
TEST_CASE("a histogram of rows, with blocks along each row", "[gpu]") {
    Image i(90, 33);
    RDom r(0, 90);
    RVar ro("ro"), ri("ri");
    i.f(i.x, i.y) = 0;
    i.f(clamp(i.in(r, i.y) / 16 + 8, 0, 15), i.y) += 1;
    i.f.gpu_tile(i.x, i.y, i.xo, i.yo, i.xi, i.yi, 16, 4);
    i.f.update()
        .split(r, ro, ri, 30)
        .split(i.y, i.yo, i.yi, 8)
        .reorder(ri, i.yi, i.yo, ro)
        .gpu_threads(i.yi)
        .gpu_blocks(i.yo, ro);
    i.check({16, 33});
}

TEST_CASE("threads of an RVar that a guard leaves out store nothing", "[gpu]") {
    // One iteration: none meets another one, so that no parts are needed.
    Var x("x"), xo("xo"), xi("xi");
    RDom r(0, 1, "r");
    RVar blocks("blocks"), pair("pair"), steps("steps"), four("four"), outer("outer"),
        inner("inner");
    Func f("f");
    f(x) = x;
    f(x) = f(x) * 3 + r;
    f.update()
        .split(r, blocks, pair, 2)
        .split(pair, steps, four, 4)
        .split(four, outer, inner, 4)
        .split(x, xo, xi, 4)
        .reorder(steps, xi, inner, outer, xo, blocks)
        .gpu_threads(xi)
        .gpu_threads(inner)
        .gpu_threads(outer)
        .gpu_blocks(blocks);
    for (const Target &target : test::gpu_targets()) {
        const Buffer<int> got = f.realize({16}, target);
        for (int i = 0; i < 16; i++)
            CHECK(got(i) == 3 * i);
    }
}
