// Arrays of a kernel whose size differs from block to block.
#include <catch2/catch_test_macros.hpp>
#include <pipe/pipe.h>

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
