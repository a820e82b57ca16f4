// gpu_single_thread(): all loops of a stage in one thread.

#include <catch2/catch_test_macros.hpp>

#include "jit/runtime/gpu/emulator.h"
#include <pipe/pipe.h>

#include "test/support/gpu_targets.h"

using namespace Pipe;

TEST_CASE("a scan in a single thread is a kernel", "[gpu]") {
    Var x("x"), xi("xi");
    Func sums("sums");
    RDom r(1, 99);
    sums(x) = x;
    sums(r) += sums(r - 1);
    sums.gpu_tile(x, xi, 32);
    sums.update().gpu_single_thread();
    runtime::emulated_device().start_counting();
    sums.realize({100}, Target("host-cuda_emulator"));
    const auto launches = runtime::emulated_device().stop_counting();
    REQUIRE(launches.size() == 2);
    CHECK(launches[1].blocks == std::array<int32_t, 3>{1, 1, 1});
    CHECK(launches[1].threads == std::array<int32_t, 3>{1, 1, 1});
    for (const Target &target : test::gpu_targets()) {
        const Buffer<int> again = sums.realize({100}, target);
        for (int i = 0; i < 100; i++)
            CHECK(again(i) == i * (i + 1) / 2);
    }
}
