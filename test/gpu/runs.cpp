// Runs on the device: streams, contexts, devices, launches that are refused, kernels that fail.

#include <thread>

#include "test/gpu/fixture.h"
#include "test/support/require_message.h"
#include "test/unit/support/set_variable.h"

using namespace gpu_test;
using runtime::DeviceOverwrite;
using runtime::DeviceWrite;

namespace {

const Target cuda("host-cuda");

int calls_of(const std::string &function) {
    return fake_cuda::calls()[function];
}

/// Work that waits in a stream of the user's ends with him.
struct UsersStream {
    UsersStream() {
        Buffer<int> b(4, 4);
        realize_add(b, b.copy(), 1);  // the primary context is there
        user.cuda_stream = fake_cuda::make_users_stream();
    }
    JITUserContext user;
};

}  // namespace

TEST_CASE("a run in the user's stream does not wait", "[gpu]") {
    UsersStream stream;
    Buffer<int> in = counted(20, 10), out(20, 10);
    in.copy_to_device(cuda);
    out.device_malloc(cuda);
    const int streams = calls_of("cuStreamCreate"), waits = calls_of("cuStreamSynchronize");
    realize_add(in, out, 1, &stream.user);
    CHECK(calls_of("cuStreamCreate") == streams);
    CHECK(calls_of("cuStreamSynchronize") == waits);
    // Other work on the Buffer waits for it, whether it knows of the stream or not.
    Buffer<int> next(20, 10);
    realize_add(out, next, 1);
    CHECK(next(3, 4) == 4005);
    realize_add(in, out, 2, &stream.user);
    out.copy_to_host();
    CHECK(out(3, 4) == 4005);
    realize_add(in, out, 3, &stream.user);
    out.copy_to_host(&stream.user);
    CHECK(out(3, 4) == 4006);
    realize_add(in, out, 4, &stream.user);
    out.device_sync();
    CHECK(out.device_dirty());
    // A Buffer without device memory is there at the end.
    realize_add(in, next, 7, &stream.user);
    CHECK(next(3, 4) == 4010);
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("memory of a run in the user's stream is not used elsewhere before its work is done",
          "[gpu]") {
    UsersStream stream;
    live_now();
    Buffer<int> out(20, 10), other(20, 10);
    out.device_malloc(cuda);
    // `in` has memory for this run only, and nothing waits.
    realize_add(counted(20, 10), out, 1, &stream.user);
    Buffer<int> in(20, 10);
    in.fill(0);
    realize_add(in, other, 1);
    CHECK(other.all_equal(1));
    fake_cuda::synchronize_users_stream(stream.user.cuda_stream);
    out.copy_to_host();
    CHECK(out(3, 4) == 4004);
}

TEST_CASE("a module is unloaded after its kernels in the user's stream", "[gpu]") {
    UsersStream stream;
    Buffer<int> in = counted(20, 10), out(20, 10);
    out.device_malloc(cuda);
    realize_add(in, out, 1, &stream.user);
    runtime::unload_module(cuda, add_module());
    out.copy_to_host();
    CHECK(out(3, 4) == 4004);
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("devices by number, by variable, by context", "[gpu]") {
    Buffer<int> in = counted(20, 10), out(20, 10);
    JITUserContext second;
    second.gpu_device = 1;
    out.device_malloc(cuda, &second);
    in.device_malloc(cuda);
    CHECK(in.raw_buffer()->device_interface == &cuda_device_interface);
    // In a run on device 0, an output on device 1 is written by way of the host.
    realize_add(in, out, 1);
    CHECK(out.host_dirty());
    CHECK(out(3, 4) == 4004);
    realize_add(in, out, 2, &second);
    CHECK(out.device_dirty());
    out.copy_to_device(cuda, &second);
    CHECK(out.device_dirty());
    // To the other device: the newest elements go with it.
    JITUserContext first;
    first.gpu_device = 0;
    out.copy_to_device(cuda, &first);
    CHECK(out(3, 4) == 4005);
    CHECK_FALSE(out.device_dirty());

    require_message<RuntimeError>(
        [&] {
            JITUserContext third;
            third.gpu_device = 2;
            realize_add(in, out, 1, &third);
        },
        {"no CUDA device 2", "has 2", "HL_GPU_DEVICE"});
    {
        testing::SetVariable variable("HL_GPU_DEVICE", "1");
        Buffer<int> there(4, 4);
        there.device_malloc(cuda);
        CHECK_NOTHROW(there.device_malloc(cuda, &second));
        const uint64_t address = there.raw_buffer()->device;
        there.device_malloc(cuda, &second);
        CHECK(there.raw_buffer()->device == address);
    }
    JITUserContext users;
    users.cuda_context = fake_cuda::make_users_context(1);
    realize_add(in, out, 9, &users);
    CHECK(out(3, 4) == 4012);
    out.device_free();
    in.device_free();
    CHECK(live_now().allocations == 0);
    CHECK(live_now().pushed_contexts == 0);
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("several threads at once", "[gpu]") {
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    Buffer<int> shared = counted(20, 10);
    shared.copy_to_device(cuda);
    shared.set_host_dirty();
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 50; i++) {
                Buffer<int> out(20, 10);
                realize_add(shared, out, t + 4 * (i % 30));
                wrong += out(3, 4) != 4003 + t + 4 * (i % 30);
            }
        });
    for (std::thread &t : threads)
        t.join();
    CHECK(wrong == 0);
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("an input that one run copies to the device, and another one reads at the same time",
          "[gpu]") {
    Buffer<int> shared(20, 10), first(20, 10), second(20, 10);
    shared.fill(0);
    shared.copy_to_device(cuda);
    // There is memory for both runs: to allocate some would wait for all work.
    realize_add(first, second, 1);
    shared.fill(5);  // newer on the host
    Arg input("shared", shared), output("first", first);
    Run run;
    run.add(input, output, 1, DeviceWrite | DeviceOverwrite);
    realize_add(shared, second, 1);  // in another stream, while that waits
    CHECK(second.all_equal(6));
    run.finish();
    CHECK(first.all_equal(6));
}

TEST_CASE("launches that the device refuses say why", "[gpu]") {
    auto refused = [&](runtime::GPULaunch launch, const std::vector<std::string> &parts) {
        Run run;
        std::vector<uint64_t> zero(9);
        std::vector<void *> params;
        for (uint64_t &v : zero)
            params.push_back(&v);
        require_message<RuntimeError>(
            [&] {
                run.launch(launch, params.data());
                run.finish();
            },
            parts);
    };
    runtime::GPULaunch launch;
    launch.params = 9;
    launch.param_bytes = 9 * 8;
    launch.threads[0] = 2048;
    refused(launch, {"kernel 'add'", "pipeline 'adder'", "2048 x 1 x 1 threads", "cuLaunchKernel",
                     "CUDA_ERROR_INVALID_VALUE (1)", "2048 threads per block, but at most 1024",
                     "Fake GPU A (CUDA device 0)"});
    launch.threads[0] = 600;
    refused(launch, {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
                     "600 threads per block, with the registers", "512"});
    launch.threads[0] = 1;
    launch.blocks[1] = 70000;
    refused(launch, {"70000 blocks in dimension y, but at most 65535"});
    launch.blocks[1] = 1;
    launch.shared_bytes = 200 << 10;
    refused(launch, {"cuFuncSetAttribute", "204800 bytes of shared memory, but at most 101376"});
    // It is as usable as before.
    Buffer<int> out(20, 10);
    realize_add(counted(20, 10), out, 1);
    CHECK(out(3, 4) == 4004);
    launch.shared_bytes = 0;
    launch.blocks[0] = 0;
    Run run;
    run.launch(launch, nullptr);  // nothing to compute
}

TEST_CASE("shared memory above 48 KB is asked for once", "[gpu]") {
    Buffer<int> out(20, 10);
    realize_add(counted(20, 10), out, 100);
    const int asked = calls_of("cuFuncSetAttribute");
    realize_add(counted(20, 10), out, 100);
    CHECK(calls_of("cuFuncSetAttribute") == asked);
}

TEST_CASE("a kernel that fails takes the device's memory with it", "[gpu]") {
    Buffer<int> in = counted(20, 10), out(20, 10), kept = counted(20, 10), wrapped(20, 10);
    out.device_malloc(cuda);
    kept.copy_to_device(cuda);
    realize_add(in, out, 1);
    fake_cuda::fail_kernel(1, 700);
    Buffer<int> result(20, 10);
    require_message<RuntimeError>([&] { realize_add(in, result, 2); },
                                  {"CUDA_ERROR_ILLEGAL_ADDRESS (700)", "kernel 'add'",
                                   "host-cuda_emulator", "what lived there alone is gone"});
    // What is only on the device is lost, which is reported once; the rest goes on.
    require_message<RuntimeError>([&] { realize_add(out, result, 3); }, {"'in'", "lost"});
    CHECK_FALSE(out.has_device_allocation());
    realize_add(kept, result, 3);
    CHECK(result(3, 4) == 4006);
    CHECK(kept.has_device_allocation());
    realize_add(in, result, 100);
    CHECK(result(3, 4) == 4103);
    CHECK(fake_cuda::misuse().empty());

    // While other runs hold what belongs to the lost context, it cannot be made anew.
    {
        Arg input("in", in), output("out", result);
        Run other;
        other.add(input, output, 1, DeviceWrite | DeviceOverwrite);
        fake_cuda::fail_kernel(1, 719);
        Buffer<int> more(20, 10);
        CHECK_THROWS_AS(realize_add(in, more, 2), RuntimeError);
        require_message<RuntimeError>([&] { realize_add(in, more, 2); }, {"lost", "have ended"});
        CHECK_THROWS_AS(other.finish(), RuntimeError);
    }
    realize_add(in, result, 5);
    CHECK(result(3, 4) == 4008);
    kept.device_free();
    CHECK(live_now().allocations == 0);
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("a lost context that cannot be made anew at once", "[gpu]") {
    Buffer<int> in = counted(20, 10), out(20, 10);
    for (const char *function :
         {"cuDevicePrimaryCtxReset_v2", "cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRetain"})
        for (int code : {2, 700, 999}) {
            INFO(function << ", " << code);
            fake_cuda::fail_kernel(1, 719);
            CHECK_THROWS_AS(realize_add(in, out, 1), RuntimeError);
            fake_cuda::fail_call(function, 1, code);
            try {
                realize_add(in, out, 2);
            } catch (const RuntimeError &error) {
                INFO(error.what());
                const std::string said = "(" + std::to_string(code) + ")";
                // Of Reset, 700 is what the old context still says; so does what comes next.
                CHECK((code == 700 || std::string(error.what()).find(said) != std::string::npos));
            }
            fake_cuda::fail_nothing();
            realize_add(in, out, 3);
            CHECK(out(3, 4) == 4006);
        }
    CHECK(live_now().allocations == 0);
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("out of device memory: kept blocks are given back first", "[gpu]") {
    live_now();
    Buffer<int> small = counted(1000, 1000), out(1000, 1000);  // 4 MB each, of 64
    realize_add(small, out, 1);
    CHECK(fake_cuda::live().bytes > 8000000);
    Buffer<int> large(4000, 3700);  // 59 MB
    large.device_malloc(cuda);
    CHECK(fake_cuda::live().bytes < 63000000);
    Buffer<int> more(2000, 2000);
    require_message<RuntimeError>([&] { more.device_malloc(cuda); },
                                  {"cuMemAlloc", "CUDA_ERROR_OUT_OF_MEMORY (2)", "16000064 bytes",
                                   "in use", "release_memory()", "Fake GPU A"});
    CHECK_FALSE(more.has_device_allocation());
    large.device_free();
    more.device_malloc(cuda);
    more.device_free();
    CHECK(fake_cuda::live().bytes > 0);
    CHECK(live_now().bytes == 0);
}

TEST_CASE("warm runs ask the driver for no memory, streams or modules", "[gpu]") {
    Buffer<int> in = counted(20, 10), out(20, 10);
    realize_add(in, out, 1);
    const std::map<std::string, int> before = fake_cuda::calls();
    for (int i = 0; i < 10; i++)
        realize_add(in, out, 1);
    for (const auto &[function, count] : fake_cuda::calls()) {
        INFO(function);
        const bool per_run = function.find("cpy") != std::string::npos ||
                             function == "cuLaunchKernel" || function == "cuStreamSynchronize" ||
                             function.rfind("cuCtx", 0) == 0;
        CHECK((count == before.at(function) || per_run));
    }
}

TEST_CASE("times of kernels, in all streams", "[gpu]") {
    UsersStream stream;
    Buffer<int> out(20, 10);
    std::vector<runtime::KernelTime> times;
    realize_add(counted(20, 10), out, 1, nullptr, &times);
    realize_add(counted(20, 10), out, 1, &stream.user, &times);
    realize_add(counted(20, 10), out, 100, nullptr, &times);
    REQUIRE(times.size() == 2);
    CHECK(times[0].kernel == "add");
    CHECK(times[0].launches == 2);
    CHECK(times[0].milliseconds == 5);  // of the fake driver's clock
    CHECK(times[1].milliseconds == 2.5);
    CHECK(fake_cuda::live().events == 0);
    runtime::Profile profile;
    profile.add(times);
    CHECK(profile.text("p").find("add_shared") != std::string::npos);
    CHECK(profile.html("p").find("add_shared") != std::string::npos);
    profile.reset();
    CHECK(profile.text("p").find("add_shared") == std::string::npos);
}

TEST_CASE("PTX that the driver refuses", "[gpu]") {
    static const runtime::GPUKernel kernel{"add", nullptr, 0}, absent{"absent", nullptr, 0};
    auto launch = [](runtime::GPUModule &module) {
        Buffer<int> b(4, 4);
        Run run;
        Arg arg("b", b);
        run.on_device(arg.device, runtime::DeviceRead);
        runtime::GPULaunch launch;
        runtime::Device &device = runtime::device_of(cuda_device_interface, nullptr);
        device.launch(module, launch, nullptr, {});
    };
    runtime::GPUModule wrong{"wrong", "syntax error", 12, &kernel, 1, 0, nullptr, nullptr};
    require_message<RuntimeError>([&] { launch(wrong); },
                                  {"pipeline 'wrong'", "capability 8.6", "cuLinkAddData",
                                   "CUDA_ERROR_INVALID_PTX", "Parsing error",
                                   "Update the NVIDIA driver"});
    runtime::GPUModule other{"other", ".entry add", 10, &absent, 1, 0, nullptr, nullptr};
    require_message<RuntimeError>([&] { launch(other); },
                                  {"kernel 'absent'", "cuModuleGetFunction"});
    runtime::unload_module(cuda, wrong);
    runtime::unload_module(cuda, other);
    runtime::unload_module(cuda, add_module());
    CHECK(fake_cuda::live().modules == 0);
    CHECK(fake_cuda::live().links == 0);
}
