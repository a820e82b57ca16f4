// Machines without a driver, without a device, with an old driver: a clear error, and all else works.

#include <cstdlib>

#include "test/gpu/fixture.h"
#include "test/support/require_message.h"

using namespace gpu_test;

namespace {

void all_else_works() {
    Buffer<int> in = counted(20, 10), out(20, 10);
    Var x("x"), y("y");
    Func f("f");
    f(x, y) = in(x, y) + 1;
    f.realize(out);
    CHECK(out(3, 4) == 4004);
    release_memory();
    in.set_host_dirty();
    CHECK(in.copy_to_host() == 0);
    CHECK(in.device_sync() == 0);
    CHECK(in.device_free() == 0);
}

void fails_with(const std::vector<std::string> &parts) {
    Buffer<int> in = counted(20, 10), out(20, 10);
    for (int i = 0; i < 2; i++) {
        require_message<RuntimeError>([&] { realize_add(in, out, 1); }, parts);
        require_message<RuntimeError>([&] { in.copy_to_device(Target("host-cuda")); }, parts);
        CHECK_FALSE(in.has_device_allocation());
        Var x("x"), y("y"), xi("xi"), yi("yi");
        Func f("f");
        f(x, y) = in(x, y) + 1;
        f.gpu_tile(x, y, xi, yi, 8, 4);
        CHECK_NOTHROW(f.compile_jit(Target("host-cuda")));  // without a GPU, too
        require_message<RuntimeError>([&] { f.realize(out, Target("host-cuda")); }, parts);
        CHECK_FALSE(host_supports_target_device(Target("host-cuda")));
        all_else_works();
    }
}

}  // namespace

TEST_CASE("no driver", "[.][no-driver]") {
    setenv("PIPE_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
    fails_with({"No NVIDIA driver", "/nowhere/libcuda.so.1", "host-cuda_emulator"});
    setenv("PIPE_CUDA_DRIVER", PIPE_FAKE_CUDA, 1);
    Buffer<int> in = counted(20, 10), out(20, 10);
    realize_add(in, out, 1);
    CHECK(out(3, 4) == 4004);
}

TEST_CASE("a library that is no driver", "[.][old-library]") {
    setenv("PIPE_CUDA_DRIVER", "libm.so.6", 1);
    fails_with({"too old", "libm.so.6", "cuLaunchKernel", "CUDA 11.0"});
}

TEST_CASE("an old driver", "[.][old-driver]") {
    fake_cuda::settings().version = 10020;
    fails_with({"too old", "CUDA 10.2", "CUDA 11.0"});
    fake_cuda::settings().version = 12040;
    CHECK(host_supports_target_device(Target("host-cuda")));
}

TEST_CASE("a driver without a device", "[.][no-device]") {
    fake_cuda::settings().devices = 0;
    fails_with({"CUDA_ERROR_NO_DEVICE (100)", "host-cuda_emulator"});
    fake_cuda::settings().devices = 1;
    CHECK(host_supports_target_device(Target("host-cuda")));
}

TEST_CASE("machines without a GPU (in new processes)", "[gpu]") {
    for (const char *test : {"no-driver", "old-library", "old-driver", "no-device"}) {
        INFO(test);
        CHECK(run_in_new_process("'[" + std::string(test) + "]'") == "");
    }
}

TEST_CASE("whether code for GPUs can run here", "[gpu]") {
    CHECK(host_supports_target_device(Target("host-cuda")));
    CHECK(host_supports_target_device(Target("host-cuda_emulator")));
    CHECK_FALSE(host_supports_target_device(Target("arm-64-linux-cuda")));
}
