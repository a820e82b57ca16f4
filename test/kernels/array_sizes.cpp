// Arrays of a kernel whose size differs from block to block.
#include <catch2/catch_test_macros.hpp>
#include <pipe/pipe.h>

#include "jit/runtime/gpu/emulator.h"
#include "test/support/gpu_targets.h"

#include <algorithm>

using namespace Pipe;

TEST_CASE("an array in shared memory is as large as the block that needs most of it", "[gpu]") {
    Func f("f"), g("g");
    Var x("x"), block("block"), thread("thread");
    g(x) = x * 3;
    f(x) = g(x) + g(min(2 * x, 40));
    f.gpu_tile(x, block, thread, 5);
    g.compute_at(f, block).gpu_threads(x);
    for (const Target &target : test::gpu_targets()) {
        const Buffer<int> out = f.realize({37}, target);
        for (int i = 0; i < 37; i++)
            CHECK(out(i) == 3 * i + 3 * std::min(2 * i, 40));
    }
}

TEST_CASE(
    "an array that boundary conditions cut off is as small in a large picture as in a small one",
    "[gpu]") {
    Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");
    ImageParam in(Int(32), 2, "in");
    Func columns("columns"), outside("outside"), half("half");
    const auto inside = [&](const Func &f, Expr column) {
        return BoundaryConditions::constant_exterior(f, 0, {{0, in.width()}, {0, in.height() / 2}})(
            column, y);
    };
    const Func whole = BoundaryConditions::constant_exterior(in, 0);
    columns(x, y) = whole(x, 2 * y - 1) + 3 * whole(x, 2 * y) + whole(x, 2 * y + 1);
    half(x, y) =
        inside(columns, 2 * x - 1) + 3 * inside(columns, 2 * x) + inside(columns, 2 * x + 2);
    outside(x, y) = half(x, y) + half(x + 1, y);
    half.compute_root().gpu_tile(x, y, xo, yo, xi, yi, 32, 4);
    columns.compute_at(half, xo).gpu_threads(x, y);
    outside.gpu_tile(x, y, xo, yo, xi, yi, 32, 4);

    for (int width : {200, 3000}) {
        Buffer<int> input(width, 40);
        input.fill([](int px, int py) { return 7 * px + 1000 * py; });
        in.set(input);
        const std::vector<int> sizes = {width / 2, 20};
        const Buffer<int> expected = Pipeline(outside).realize_reference(sizes);
        for (const Target &target : test::gpu_targets()) {
            runtime::emulated_device().start_counting();
            const Buffer<int> out = outside.realize(sizes, target);
            for (const runtime::EmulatorCounters &launch :
                 runtime::emulated_device().stop_counting())
                CHECK(launch.shared_bytes <= 4 * 4 * (2 * 32 + 32));
            int wrong = 0;
            out.for_each_element([&](int px, int py) { wrong += out(px, py) != expected(px, py); });
            CHECK(wrong == 0);
        }
    }
}
