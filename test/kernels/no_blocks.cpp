// Loops over blocks without iterations.
#include <catch2/catch_test_macros.hpp>
#include <pipe/pipe.h>

#include "test/support/gpu_targets.h"

using namespace Pipe;

TEST_CASE("a kernel without blocks is not launched", "[gpu]") {
    Func f("f");
    Var x("x"), block("block"), thread("thread");
    Param<int> count("count");
    RDom r(0, count, "r");
    f(x) = 7;
    f(r) += 1;
    const RVar outer("outer"), inner("inner");
    f.gpu_tile(x, block, thread, 8);
    f.update().split(r, outer, inner, 8).gpu_blocks(outer).gpu_threads(inner);
    for (int n : {0, 3, 20}) {
        count.set(n);
        for (const Target &target : test::gpu_targets()) {
            const Buffer<int> out = f.realize({20}, target);
            for (int i = 0; i < 20; i++)
                CHECK(out(i) == (i < n ? 8 : 7));
        }
    }
}
