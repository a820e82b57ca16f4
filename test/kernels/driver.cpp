// The CUDA driver itself. On machines without a GPU these test nothing: test/gpu has a driver made for tests.

#include <cstdlib>
#include <filesystem>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <pipe/device_interface.h>
#include <pipe/pipe.h>

#include "jit/runtime/gpu/cuda/driver.h"
#include "jit/runtime/gpu/devices.h"
#include "test/support/gpu_targets.h"
#include "test/support/require_message.h"
#include "test/support/temp_folder.h"

using namespace Pipe;

namespace {

bool no_gpu() {
    if (test::has_gpu())
        return false;
    WARN("no GPU: nothing is tested");
    return true;
}

const Target cuda("host-cuda");

/// out(x, y) = in(x, y) * factor
struct Scaled {
    explicit Scaled(int factor = 3) {
        out(x, y) = in(x, y) * factor;
        out.gpu_tile(x, y, xi, yi, 16, 8, TailStrategy::GuardWithIf);
    }
    static Buffer<int> input(int w, int h) {
        Buffer<int> b(w, h);
        b.fill([](int px, int py) { return px + 1000 * py; });
        return b;
    }
    void check(const Buffer<int> &result, int factor = 3) const {
        int wrong = 0;
        result.for_each_element(
            [&](int px, int py) { wrong += result(px, py) != (px + 1000 * py) * factor; });
        CHECK(wrong == 0);
    }
    void check_run(int factor = 3) {
        Buffer<int> result(100, 60);
        in.set(input(100, 60));
        out.realize(result, cuda);
        check(result, factor);
    }

    Var x{"x"}, y{"y"}, xi{"xi"}, yi{"yi"};
    ImageParam in{Int(32), 2, "in"};
    Func out{"out"};
};

}  // namespace

TEST_CASE("work in a stream and a context of the user", "[driver]") {
    if (no_gpu())
        return;
    using namespace runtime::cuda;
    const Driver &driver = Driver::get();
    CUcontext context = nullptr;
    CUdevice device = 0;
    REQUIRE(driver.DeviceGet(&device, 0) == 0);
    REQUIRE(driver.DevicePrimaryCtxRetain(&context, device) == 0);
    REQUIRE(driver.CtxPushCurrent(context) == 0);
    CUstream stream = nullptr;
    REQUIRE(driver.StreamCreate(&stream, stream_non_blocking) == 0);
    for (bool own_context : {false, true}) {
        Scaled pipeline;
        JITUserContext user;
        user.cuda_stream = stream;
        if (own_context)
            user.cuda_context = context;
        const Buffer<int> input = Scaled::input(2000, 1000);
        Buffer<int> result(2000, 1000);
        input.copy_to_device(DeviceAPI::CUDA, cuda, &user);
        result.device_malloc(DeviceAPI::CUDA, cuda, &user);
        pipeline.in.set(input);
        for (int i = 0; i < 3; i++)
            pipeline.out.realize(&user, result, cuda);
        result.copy_to_host(&user);
        pipeline.check(result);
    }
    CUcontext popped = nullptr;
    driver.CtxPopCurrent(&popped);
    driver.DevicePrimaryCtxRelease(device);
}

TEST_CASE("several threads run pipelines at once", "[driver]") {
    if (no_gpu())
        return;
    std::vector<std::thread> threads;
    for (int factor = 1; factor <= 4; factor++)
        threads.emplace_back([factor] {
            Scaled pipeline(factor);
            for (int i = 0; i < 20; i++)
                pipeline.check_run(factor);
        });
    for (std::thread &thread : threads)
        thread.join();
}

TEST_CASE("more memory than the GPU has is refused, and the next run works", "[driver]") {
    if (no_gpu())
        return;
    Buffer<int> huge(static_cast<int *>(nullptr), 1 << 20, 1 << 20);
    require_message<RuntimeError>([&] { huge.device_malloc(cuda); },
                                  {"cuMemAlloc", "CUDA_ERROR_OUT_OF_MEMORY", "release_memory()"});
    Scaled().check_run();
}

TEST_CASE("a launch that exceeds the GPU is refused with its limits, and the next run works",
          "[driver]") {
    if (no_gpu())
        return;
    Var x("x"), xo("xo"), xi("xi");
    Param<int> window("window", 10);
    Func f("f"), g("g");
    f(x) = x * 3;
    g(x) = f(x) + f(x + window);
    g.gpu_tile(x, xo, xi, 64);
    f.compute_at(g, xo).gpu_threads(x);
    Buffer<int> out(640);
    g.realize(out, cuda);
    window.set(20000);  // 80 KB of shared memory
    g.realize(out, cuda);
    for (int i = 0; i < 640; i++)
        REQUIRE(out(i) == 6 * i + 60000);
    window.set(1 << 20);
    require_message<RuntimeError>([&] { g.realize(out, cuda); },
                                  {"bytes of shared memory", "are possible"});
    window.set(10);
    g.realize(out, cuda);
    CHECK(out(639) == 6 * 639 + 30);
}

TEST_CASE("an illegal address is reported, and the host goes on", "[driver]") {
    if (no_gpu())
        return;
    // CUDA runs nothing more in a process where it happened.
    const std::string command =
        std::filesystem::read_symlink("/proc/self/exe").string() + " '[.lost]'";
    CHECK(std::system(command.c_str()) == 0);
}

TEST_CASE("an illegal address", "[.lost]") {
    if (no_gpu())
        return;
    Scaled pipeline;
    pipeline.check_run();
    Buffer<int> wrong(100, 60), result(100, 60);
    wrong.device_wrap_native(&cuda_device_interface, 0x100);
    wrong.set_device_dirty();
    pipeline.in.set(wrong);
    require_message<RuntimeError>([&] { pipeline.out.realize(result, cuda); },
                                  {"CUDA_ERROR_ILLEGAL_ADDRESS", "Pipeline out", "start it again"});
    wrong.device_detach_native();
    pipeline.in.set(Scaled::input(100, 60));
    try {  // a driver may recover
        pipeline.out.realize(result, cuda);
        pipeline.check(result);
    } catch (const RuntimeError &error) {
        CHECK_THAT(error.what(), Catch::Matchers::ContainsSubstring("Start the process again"));
    }
    Func on_host("on_host");
    on_host(pipeline.x, pipeline.y) = pipeline.in(pipeline.x, pipeline.y) * 3;
    pipeline.check(on_host.realize({100, 60}));
}

TEST_CASE("the profile has the times of kernels on the GPU", "[driver]") {
    if (no_gpu())
        return;
    Scaled pipeline;
    Pipeline p(pipeline.out);
    p.jit_handlers().custom_print = [](JITUserContext *, const char *) {};
    pipeline.in.set(Scaled::input(2000, 1000));
    Buffer<int> output(2000, 1000);
    for (int i = 0; i < 3; i++)
        p.realize(output, Target("host-cuda-profile"));
    const std::string report = p.profiler_report();
    INFO(report);
    CHECK(report.find("kernel ") != std::string::npos);
    CHECK(report.find("launches") != std::string::npos);
}

TEST_CASE("linked kernels are kept on disk", "[driver]") {
    if (no_gpu())
        return;
    TempFolder folder;
    setenv("PIPE_GPU_CACHE", (folder / "kernels").c_str(), 1);
    Scaled(77).check_run(77);
    int files = 0;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder / "kernels"))
        files += entry.is_regular_file();
    CHECK(files == 1);
    unsetenv("PIPE_GPU_CACHE");
}
