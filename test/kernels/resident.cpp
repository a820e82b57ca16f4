// Pipelines with kernels, and Buffers with and without memory on the device.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <pipe/device_interface.h>
#include <pipe/pipe.h>

#include "test/support/gpu_targets.h"
#include "test/support/require_message.h"
#include "test/support/two_kernels.h"

using namespace Pipe;
using test::counted;
using test::TwoKernels;

TEST_CASE("Buffers of pipelines with kernels, on the device and not", "[gpu]") {
    const Target target = GENERATE(from_range(test::gpu_targets()));
    INFO(target.to_string());
    const DeviceInterface &interface = target.has_feature(Target::CUDAEmulator)
                                           ? cuda_emulator_device_interface
                                           : cuda_device_interface;
    TwoKernels pipeline(target);
    Buffer<int> input = counted(33, 15), output(32, 15);
    pipeline.run(input, output);
    CHECK(pipeline.is_right(input, output));
    CHECK_FALSE(output.device_dirty());

    SECTION("resident") {
        input.copy_to_device(target);
        output.device_malloc(target);
        CHECK(input.raw_buffer()->device_interface == &interface);
        output.fill(0);
        pipeline.run(input, output);
        CHECK(output.device_dirty());
        CHECK(output.data()[0] == 0);
        output.copy_to_host();
        CHECK(pipeline.is_right(input, output));
        input.fill(3);
        pipeline.run(input, output);
        CHECK(output.copy().all_equal(12));
    }
    SECTION("crops of one image, resident or not") {
        Buffer<int> image = counted(80, 40);
        const bool resident = GENERATE(false, true);
        if (resident)
            image.copy_to_device(target);
        Buffer<int> in = image.cropped(0, 3, 33).cropped(1, 5, 15);
        Buffer<int> out = image.cropped(0, 40, 32).cropped(1, 5, 15);
        in.set_min(0, 0);
        out.set_min(0, 0);
        const Buffer<int> before = image.copy();
        pipeline.run(in, out);
        CHECK(out.device_dirty() == resident);
        image.copy_to_host();
        CHECK(pipeline.is_right(in, out));
        image.for_each_element([&](int x, int y) {
            const bool written = x >= 40 && x < 72 && y >= 5 && y < 20;
            if (!written && image(x, y) != before(x, y))
                FAIL(x << ", " << y);
        });
    }
    SECTION("only on the device") {
        Buffer<int> device_only(static_cast<int *>(nullptr), 32, 15);
        device_only.device_malloc(target);
        pipeline.run(input, device_only);
        Buffer<int> host(32, 15);
        host.device_wrap_native(&interface, device_only.raw_buffer()->device);
        host.set_device_dirty();
        CHECK(host.copy_to_host() == 0);
        host.device_detach_native();
        CHECK(pipeline.is_right(input, host));
    }
    SECTION("crops only on the device") {
        Buffer<int> image(static_cast<int *>(nullptr), 80, 40);
        image.device_malloc(target);
        Func copy("copy");
        copy(pipeline.x, pipeline.y) = input(pipeline.x, pipeline.y);
        copy.gpu_tile(pipeline.x, pipeline.y, pipeline.xi, pipeline.yi, 8, 4);
        copy.realize(image.cropped(0, 0, 33).cropped(1, 0, 15), target);
        Buffer<int> in = image.cropped(0, 0, 33).cropped(1, 0, 15);
        Buffer<int> out = image.cropped(0, 40, 32).cropped(1, 0, 15),
                    shifted = image.cropped(0, 1, 32);
        out.set_min(0, 0);
        shifted.set_min(0, 0);
        pipeline.run(in, out);
        Buffer<int> host(80, 40);
        host.device_wrap_native(&interface, image.raw_buffer()->device);
        host.set_device_dirty();
        host.copy_to_host();
        host.device_detach_native();
        Buffer<int> computed = host.cropped(0, 40, 32).cropped(1, 0, 15);
        computed.set_min(0, 0);
        CHECK(pipeline.is_right(input, computed));

        Func next("next");
        next(pipeline.x, pipeline.y) = pipeline.in(pipeline.x + 1, pipeline.y) + 1;
        next.gpu_tile(pipeline.x, pipeline.y, pipeline.xi, pipeline.yi, 8, 4);
        require_message<RuntimeError>(
            [&] { next.realize(shifted.cropped(0, 0, 31).cropped(1, 0, 15), target); },
            {"'next'", "'in'", "4 bytes after"});
    }
}
