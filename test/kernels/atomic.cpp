// Updates that several threads make to one element.
#include <catch2/catch_test_macros.hpp>
#include <pipe/pipe.h>

#include "test/support/gpu_targets.h"

using namespace Pipe;

TEST_CASE("an atomic update adds what all threads of all blocks add to an element", "[gpu]") {
    constexpr int size = 1000, bins = 7;
    Func counts("counts");
    Var x("x");
    RDom r(0, size, "r");
    counts(x) = 0;
    counts((r * r) % bins) += r;
    const RVar block("block"), thread("thread");
    counts.update().atomic().split(r, block, thread, 64).gpu_threads(thread).gpu_blocks(block);
    int expected[bins] = {};
    for (int i = 0; i < size; i++)
        expected[i * i % bins] += i;
    for (const Target &target : test::gpu_targets()) {
        const Buffer<int> out = counts.realize({bins}, target);
        for (int i = 0; i < bins; i++)
            CHECK(out(i) == expected[i]);
    }
}
