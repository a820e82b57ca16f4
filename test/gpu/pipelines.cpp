// Pipelines with kernels: compiled for CUDA they are launched on the fake driver, which has nothing to run PTX with; in the
// emulator they compute, with Buffers on the device and not.

#include "test/gpu/fixture.h"
#include "test/support/require_message.h"
#include "test/support/two_kernels.h"

using namespace gpu_test;
using test::TwoKernels;

namespace {
int launches_in_host_loop = 0;
}

extern "C" int pipe_gpu_note_launches(int x) {
    launches_in_host_loop = fake_cuda::calls()["cuLaunchKernel"];
    return x;
}
HalideExtern_1(int, pipe_gpu_note_launches, int);

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

TEST_CASE("kernels begin before a loop of the host, even if it uses nothing of theirs", "[gpu]") {
    Var x("x"), xi("xi");
    Func kernel("kernel"), on_host("on_host"), shifted("shifted"), out("out");
    kernel(x) = x;
    on_host(x) = pipe_gpu_note_launches(x);
    shifted(x) = on_host(x + 1);
    out(x) = kernel(x) + shifted(x);
    for (Func f : {kernel, out})
        f.compute_root().gpu_tile(x, xi, 16);
    on_host.compute_root();
    shifted.compute_root();
    out.realize({64},
                Target("host-cuda"));  // there is memory: to allocate some submits launches, too
    const int before = fake_cuda::calls()["cuLaunchKernel"];
    out.realize({64}, Target("host-cuda"));
    CHECK(launches_in_host_loop == before + 1);
    CHECK(fake_cuda::calls()["cuLaunchKernel"] == before + 2);
}

TEST_CASE("a pipeline whose kernel fails names itself, and works the next time", "[gpu]") {
    TwoKernels pipeline(Target("host-cuda"));
    Buffer<int> input = counted(33, 15), output(32, 15);
    pipeline.run(input, output);
    fake_cuda::fail_call("cuLaunchKernel", 2, 701);
    require_message<RuntimeError>([&] { pipeline.run(input, output); },
                                  {"Pipeline out (two_kernels.h", "cuLaunchKernel", "(701)",
                                   "Launched before in this run: kernel"});
    pipeline.run(input, output);
    fake_cuda::fail_kernel(2, 700);
    require_message<RuntimeError>(
        [&] { pipeline.run(input, output); },
        {"Pipeline out (two_kernels.h", "CUDA_ERROR_ILLEGAL_ADDRESS", "2 kernels"});
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

TEST_CASE("a GPU that does not come back after a failure", "[gpu]") {
    TwoKernels pipeline(Target("host-cuda"));
    Buffer<int> input = counted(33, 15), output(32, 15);
    pipeline.run(input, output);
    fake_cuda::fail_kernel(1, 700);
    require_message<RuntimeError>(
        [&] { pipeline.run(input, output); },
        {"CUDA_ERROR_ILLEGAL_ADDRESS", "start it again", "CPUs can go on"});
    for (int i = 0; i < 2; i++) {
        fake_cuda::fail_call("cuDevicePrimaryCtxRetain", 1, 700);
        require_message<RuntimeError>([&] { pipeline.run(input, output); },
                                      {"a kernel failed in this process",
                                       "CUDA_ERROR_ILLEGAL_ADDRESS (700)",
                                       "Start the process again", "CPUs can go on"});
    }
    pipeline.run(input, output);  // this driver does
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

TEST_CASE("from the fake GPU to the emulator, and to the host", "[gpu]") {
    const Target target("host-cuda_emulator");
    TwoKernels pipeline(target);
    Buffer<int> input = counted(33, 15), output(32, 15);
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
