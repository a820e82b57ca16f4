// Pipelines with kernels: compiled for CUDA they are launched on the fake driver, which has nothing to run PTX with; in the
// emulator they compute, with Buffers on the device and not.

#include "test/gpu/fixture.h"
#include "test/support/require_message.h"

using namespace gpu_test;

namespace {

/// out(x, y) = in(x, y) + in(x + 1, y), the sum by a kernel, from a Func that one more computes.
struct TwoKernels {
    explicit TwoKernels(const Target &t) : target(t) {
        doubled(x, y) = 2 * in(x, y);
        out(x, y) = doubled(x, y) + doubled(x + 1, y);
        out.gpu_tile(x, y, xi, yi, 8, 4);
        doubled.compute_root().gpu_tile(x, y, xi, yi, 8, 4);
    }
    void run(const Buffer<int> &input, const Buffer<int> &output) {
        in.set(input);
        out.realize(output, target);
    }
    bool is_right(const Buffer<int> &input, const Buffer<int> &output) const {
        bool right = true;
        output.for_each_element([&](int px, int py) {
            right &= output(px, py) == 2 * input(px, py) + 2 * input(px + 1, py);
        });
        return right;
    }

    Target target;
    Var x{"x"}, y{"y"}, xi{"xi"}, yi{"yi"};
    ImageParam in{Int(32), 2, "in"};
    Func doubled{"doubled"}, out{"out"};
};

}  // namespace

TEST_CASE("pipelines compiled for CUDA load their PTX and launch", "[gpu]") {
    const int64_t modules = fake_cuda::live().modules;
    {
        TwoKernels pipeline(Target("host-cuda"));
        const int before = fake_cuda::calls()["cuLaunchKernel"];
        Buffer<int> output(32, 15);
        pipeline.run(counted(33, 15), output);
        CHECK(fake_cuda::calls()["cuLaunchKernel"] == before + 2);
        CHECK(fake_cuda::live().modules == modules + 1);
        pipeline.run(counted(33, 15), output);
        CHECK(fake_cuda::live().modules == modules + 1);
    }
    CHECK(fake_cuda::live().modules == modules);  // with the code
    CHECK(live_now().allocations == 0);
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("a pipeline whose kernel fails names itself, and works the next time", "[gpu]") {
    TwoKernels pipeline(Target("host-cuda"));
    Buffer<int> input = counted(33, 15), output(32, 15);
    pipeline.run(input, output);
    fake_cuda::fail_call("cuLaunchKernel", 2, 701);
    require_message<RuntimeError>([&] { pipeline.run(input, output); },
                                  {"Pipeline out (pipelines.cpp", "cuLaunchKernel", "(701)",
                                   "Launched before in this run: kernel"});
    pipeline.run(input, output);
    fake_cuda::fail_kernel(2, 700);
    require_message<RuntimeError>(
        [&] { pipeline.run(input, output); },
        {"Pipeline out (pipelines.cpp", "CUDA_ERROR_ILLEGAL_ADDRESS", "2 kernels"});
    pipeline.run(input, output);

    // What only some of the work needs is freed where another part fails.
    fake_cuda::fail_call("cuMemcpyDtoHAsync_v2", 1, 999);
    static std::string told;
    JITUserContext context;
    context.handlers.custom_error = [](JITUserContext *, const char *message) { told = message; };
    pipeline.out.realize(&context, output, pipeline.target);
    CHECK(told.find("cuMemcpyDtoHAsync") != std::string::npos);
    context.gpu_device = 1;
    told.clear();
    pipeline.out.realize(&context, output, pipeline.target);
    CHECK(told == "");
    CHECK(live_now().allocations == 0);
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("the profile has the times of kernels", "[gpu]") {
    for (const char *name : {"host-cuda-profile", "host-cuda_emulator-profile"}) {
        INFO(name);
        TwoKernels pipeline{Target(name)};
        Pipeline p(pipeline.out);
        p.jit_handlers().custom_print = [](JITUserContext *, const char *) {};
        Buffer<int> output(32, 15);
        pipeline.in.set(counted(33, 15));
        p.realize(output, pipeline.target);
        p.realize(output, pipeline.target);
        const std::string report = p.profiler_report();
        INFO(report);
        CHECK(report.find("launches") != std::string::npos);
        CHECK(report.find("doubled", report.find("kernel ")) != std::string::npos);
    }
}

TEST_CASE("Buffers of pipelines in the emulator", "[gpu]") {
    const Target target("host-cuda_emulator");
    TwoKernels pipeline(target);
    Buffer<int> input = counted(33, 15), output(32, 15);
    pipeline.run(input, output);
    CHECK(pipeline.is_right(input, output));
    CHECK_FALSE(output.device_dirty());

    SECTION("resident") {
        input.copy_to_device(target);
        output.device_malloc(target);
        CHECK(input.raw_buffer()->device_interface == &cuda_emulator_device_interface);
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
    SECTION("on the device alone") {
        Buffer<int> device_only(static_cast<int *>(nullptr), 32, 15);
        device_only.device_malloc(target);
        pipeline.run(input, device_only);
        Buffer<int> host(32, 15);
        host.device_wrap_native(&cuda_emulator_device_interface, device_only.raw_buffer()->device);
        host.set_device_dirty();
        CHECK(host.copy_to_host() == 0);
        host.device_detach_native();
        CHECK(pipeline.is_right(input, host));
    }
    SECTION("crops on the device alone") {
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
        host.device_wrap_native(&cuda_emulator_device_interface, image.raw_buffer()->device);
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
    SECTION("from the fake GPU to the emulator, and to the host") {
        input.copy_to_device(Target("host-cuda"));
        realize_add(counted(33, 15), input, 10);
        CHECK(input.device_dirty());
        pipeline.run(input, output);
        CHECK(pipeline.is_right(input, output));
        Func twice("twice");
        twice(pipeline.x, pipeline.y) = 2 * output(pipeline.x, pipeline.y);
        output.device_malloc(target);
        pipeline.run(input, output);
        CHECK(output.device_dirty());
        Buffer<int> doubled = twice.realize({32, 15});
        CHECK(doubled(3, 4) == 2 * output(3, 4));
        CHECK_FALSE(output.device_dirty());
    }
}
