// Directives for GPUs: recorded and printed anywhere, refused when code is made for a CPU.
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "language/freeze.h"
#include "test/support/require_message.h"

using namespace Pipe;

namespace {

Var x("x"), y("y"), z("z"), bx("bx"), by("by"), bz("bz"), tx("tx"), ty("ty"), tz("tz");

struct Volume {
    Func f{"f"};
    Volume() { f(x, y, z) = x + y + z; }
    schedules::StageSchedule frozen() const {
        return language::freeze({f}, get_host_target(), {}, {}).schedule.funcs[0].stages[0];
    }
    LoopKind kind(const std::string &loop) const {
        for (const schedules::Dim &d : frozen().dims)
            if (d.name == loop)
                return d.kind;
        FAIL("no loop " << loop);
        return LoopKind::Serial;
    }
};

}  // namespace

TEST_CASE_METHOD(Volume, "gpu_tile splits, reorders and marks", "[gpu]") {
    std::vector<std::string> loops;
    SECTION("one dimension") {
        f.gpu_tile(x, bx, tx, 8);
        loops = {"tx", "bx", "y", "z"};
    }
    SECTION("two dimensions, old names for the blocks") {
        f.gpu_tile(x, y, tx, ty, 8, 4, TailStrategy::GuardWithIf);
        loops = {"tx", "ty", "x", "y", "z"};
        CHECK(kind("y") == LoopKind::GPUBlock);
        CHECK(kind("ty") == LoopKind::GPUThread);
        CHECK(frozen().transforms[0].tail == TailStrategy::GuardWithIf);
    }
    SECTION("three dimensions") {
        f.gpu_tile(x, y, z, bx, by, bz, tx, ty, tz, 8, 4, 2, TailStrategy::Auto, DeviceAPI::CUDA);
        loops = {"tx", "ty", "tz", "bx", "by", "bz"};
        CHECK(frozen().dims[5].device == DeviceAPI::CUDA);
    }
    std::vector<std::string> found;
    for (const schedules::Dim &d : frozen().dims)
        found.push_back(d.name);
    CHECK(found == loops);
    CHECK(kind("tx") == LoopKind::GPUThread);
}

TEST_CASE_METHOD(Volume, "blocks, threads and lanes", "[gpu]") {
    f.split(x, bx, tx, 32).gpu(z, y).gpu_blocks(bx, DeviceAPI::CUDA).gpu_lanes(tx);
    CHECK(kind("z") == LoopKind::GPUBlock);
    CHECK(kind("y") == LoopKind::GPUThread);
    CHECK(kind("bx") == LoopKind::GPUBlock);
    CHECK(kind("tx") == LoopKind::GPULane);
    CHECK(is_unordered(LoopKind::GPULane));
    std::string source = Pipeline(f).schedule_source();
    CHECK(source.find(".gpu_blocks(bx, DeviceAPI::CUDA)") != std::string::npos);
    CHECK(source.find(".gpu_lanes(tx)") != std::string::npos);
    CHECK(Pipeline(f).loop_nest().find("gpu_lane tx") != std::string::npos);
}

TEST_CASE_METHOD(Volume, "compiling for a CPU says what to do", "[gpu]") {
    SECTION("a loop") {
        f.gpu_tile(x, y, bx, by, tx, ty, 8, 8);
        require_message<CompileError>(
            [&] { f.compile_jit(); },
            {"f.gpu_", "gpu_directives.cpp", "is a CPU", "target.has_gpu_feature()"});
    }
    SECTION("a single thread") {
        f.gpu_single_thread();
        require_message<CompileError>([&] { f.realize({4, 4, 4}); }, {"f.gpu_single_thread"});
    }
    SECTION("a specialization") {
        Param<bool> p("p");
        f.specialize(p).gpu_blocks(z);
        require_message<CompileError>([&] { f.compile_jit(); }, {"f.gpu_blocks(z)"});
    }
    SECTION("memory") {
        Func g("g");
        g(x, y, z) = f(x, y, z);
        f.compute_root().store_in(MemoryType::GPUShared);
        require_message<CompileError>([&] { g.compile_jit(); },
                                      {"f.store_in(MemoryType::GPUShared)", "no such memory"});
    }
    SECTION("of an autoscheduled pipeline") {
        f.gpu_blocks(z);
        Pipeline p(f);
        p.autoschedule(get_host_target());
        require_message<CompileError>([&] { p.realize({4, 4, 4}); }, {"f.gpu_blocks(z)"});
    }
    SECTION("an update") {
        f(x, y, z) += 1;
        f.update().gpu_threads(x, y);
        require_message<CompileError>([&] { f.compile_jit(); }, {"f.update(0).gpu_threads(x)"});
    }
}

TEST_CASE_METHOD(Volume, "a loop that is not there", "[gpu]") {
    require_message<CompileError>([&] { f.gpu_threads(x, tx); },
                                  {"f.gpu_threads(x, tx)", "no loop"});
    CHECK(kind("x") == LoopKind::Serial);
    require_message<CompileError>(
        [&] { f.gpu_threads(x).compile_to_object("", {}), f(x, y, z) = 1; }, {"gpu_threads"});
}

TEST_CASE_METHOD(Volume, "programs that choose by the target", "[gpu]") {
    Target target = get_host_target();
    if (target.has_gpu_feature())
        f.gpu_tile(x, y, tx, ty, 8, 8);
    else
        f.parallel(z).vectorize(x, 4);
    Buffer<int> out = f.realize({8, 8, 8}, target);
    CHECK(out(1, 2, 3) == 6);
}

TEST_CASE("threads over an RVar race as other unordered loops do", "[gpu]") {
    Func f("f");
    RDom r(0, 10, "r");
    f(x) = 0;
    f(x) = f(x) * 3 + r;
    f.update().gpu_threads(r.x);
    require_message<CompileError>([&] { f.compile_jit(); }, {"f.update(0).gpu_threads", "r$x"});
}
