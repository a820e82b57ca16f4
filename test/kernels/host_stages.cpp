// Pipelines without kernels, for a target with a GPU, on Buffers whose memory on the device was asked for.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <pipe/pipe.h>

#include "test/support/gpu_targets.h"

using namespace Pipe;

TEST_CASE("host code reads and writes Buffers that are resident on the device", "[gpu]") {
    const Target target = GENERATE(from_range(test::gpu_targets()));
    Var x("x"), xi("xi");
    Buffer<int> first(40), second(40), third(40);
    for (const Buffer<int> &buffer : {first, second, third})
        buffer.device_malloc(target);

    Func by_kernel("by_kernel");
    by_kernel(x) = 3 * x;
    by_kernel.gpu_tile(x, xi, 16);
    by_kernel.realize(first, target);
    CHECK(first.device_dirty());

    Func on_host("on_host");
    on_host(x) = first(x) + 1;
    on_host.realize(second, target);
    CHECK(second.host_dirty());

    Func again("again");
    again(x) = second(x) * 2;
    again.gpu_tile(x, xi, 16);
    again.realize(third, target);
    third.copy_to_host();
    for (int i = 0; i < 40; i++) {
        CHECK(second(i) == 3 * i + 1);
        CHECK(third(i) == 2 * (3 * i + 1));
    }
}
