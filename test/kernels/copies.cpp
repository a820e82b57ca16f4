// copy_to_device() and copy_to_host(): copies of a part, made by the host.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <pipe/pipe.h>

#include "test/support/gpu_targets.h"
#include "test/support/require_message.h"

using namespace Pipe;

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi"), strip("strip");

/// Sums of three rows of a picture; of rows of the input that are copied for each strip.
struct Strips {
    Buffer<int> picture{64, 50};
    Func copy, sums{"sums"};
    Strips() {
        for (int j = 0; j < 50; j++)
            for (int i = 0; i < 64; i++)
                picture(i, j) = 5 * i + 7 * j * j;
        Func input("input");
        input(x, y) = picture(x, y);
        sums(x, y) = input(x, y) + input(x, y + 1) + input(x, y + 2);
        copy = input;
    }
    void check(const Target &target) {
        const Buffer<int> result = sums.realize({64, 48}, target);
        for (int j = 0; j < 48; j++)
            for (int i = 0; i < 64; i++)
                REQUIRE(result(i, j) == picture(i, j) + picture(i, j + 1) + picture(i, j + 2));
    }
};

}  // namespace

TEST_CASE_METHOD(Strips, "only what a strip needs is copied to the device", "[gpu]") {
    const Target target = GENERATE(from_range(test::gpu_targets()));
    sums.split(y, strip, y, 16).gpu_tile(x, y, xi, yi, 32, 8);
    copy.copy_to_device().compute_at(sums, strip);
    check(target);
    // The picture itself is never on the device.
    CHECK_FALSE(picture.has_device_allocation());
    CHECK(Pipeline(sums).schedule_source().find("copy_to_device()") != std::string::npos);
}

TEST_CASE_METHOD(Strips, "a copy on the host of what a kernel computed", "[gpu]") {
    const Target target = GENERATE(from_range(test::gpu_targets()));
    copy.compute_root().gpu_tile(x, y, xi, yi, 32, 8);
    copy.in().copy_to_host().compute_root();
    sums.vectorize(x, 8);
    check(target);
}

TEST_CASE_METHOD(Strips, "the autoscheduler leaves copies to the host", "[gpu]") {
    copy.copy_to_device();
    Pipeline p(sums);
    p.autoschedule(Target("host-cuda_emulator"));
    CHECK(p.schedule_source().find("copy_to_device()") != std::string::npos);
    const Buffer<int> result = p.realize({64, 48}, Target("host-cuda_emulator"));
    CHECK(result(3, 4) == 45 + 7 * (16 + 25 + 36));
    CHECK_FALSE(picture.has_device_allocation());
}

TEST_CASE_METHOD(Strips, "copies that cannot be", "[gpu]") {
    const Target target("host-cuda_emulator");
    SECTION("of what is computed") {
        sums.copy_to_host();
        require_message<CompileError>(
            [&] {
                sums.realize({64, 48}, target);
            },
            {"sums.copy_to_host", "copies.cpp", "copy of one Func or Buffer"});
    }
    SECTION("by a kernel") {
        copy.compute_root().copy_to_device().gpu_tile(x, y, xi, yi, 32, 8);
        require_message<CompileError>(
            [&] {
                sums.realize({64, 48}, target);
            },
            {"input.copy_to_device", "gpu_threads(xi)"});
    }
    SECTION("inside of a kernel") {
        sums.gpu_tile(x, y, xi, yi, 32, 8);
        copy.copy_to_device().compute_at(sums, x);
        require_message<CompileError>(
            [&] {
                sums.realize({64, 48}, target);
            },
            {"input.copy_to_device", "gpu_blocks", "outside"});
    }
    SECTION("of a Func that is inlined") {
        copy.copy_to_device();
        require_message<CompileError>(
            [&] {
                sums.realize({64, 48}, target);
            },
            {"input.copy_to_device", "inlined", "compute_root"});
    }
    SECTION("for a CPU") {
        copy.copy_to_device().compute_root();
        require_message<CompileError>(
            [&] {
                sums.realize({64, 48});
            },
            {"input.copy_to_device", "is a CPU"});
    }
    SECTION("to another device") {
        require_message<CompileError>([&] { copy.copy_to_device(DeviceAPI::Metal); },
                                      {"input.copy_to_device", "DeviceAPI::CUDA"});
    }
}

TEST_CASE("a warp has 32 lanes", "[gpu]") {
    Func f("f");
    Var lane("lane");
    f(x, y) = x + y;
    f.split(x, x, lane, 64).gpu_blocks(x).gpu_lanes(lane);
    require_message<CompileError>(
        [&] {
            f.realize({128, 2}, Target("host-cuda_emulator"));
        },
        {"gpu_lanes", "64 iterations", "at most 32", "gpu_threads()"});
}
