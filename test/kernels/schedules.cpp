// Schedules for a GPU that the fuzzer found to be wrong once: they equal the reference evaluator, or are refused.
#include <pipe/pipe.h>

#include "codegen/codegen.h"
#include "driver/compiled.h"
#include "driver/compiler.h"
#include "test/support/gpu_targets.h"
#include "test/support/ptxas.h"
#include "test/support/require_message.h"

using namespace Pipe;

namespace {

Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");
const Target emulator("host-cuda_emulator-quick_compile");

template <typename T = int> void check(Func f, const std::vector<int> &sizes) {
    Buffer<T> expected(sizes);
    Pipeline(f).realize_reference(expected);
    for (const Target &target : test::gpu_targets("-quick_compile")) {
        INFO(target.to_string());
        Buffer<T> got(sizes);
        Pipeline(f).realize(got, target);
        int wrong = 0;
        got.for_each_element([&](const int *at) { wrong += got(at) != expected(at); });
        CHECK(wrong == 0);
    }
}

Buffer<int> count_up(const std::vector<int> &sizes) {
    Buffer<int> in(sizes);
    int next = 0;
    in.for_each_value([&](int &v) { v = 7 * next++ % 101; });
    return in;
}

}  // namespace

TEST_CASE("a row that the first threads store and all read", "[schedules]") {
    Func row("row"), out("out");
    row(x) = x * x;
    out(x, y) = row(x) + y;
    out.gpu_tile(x, y, xo, yo, xi, yi, 8, 4);
    row.compute_at(out, xo).gpu_threads(x);
    check(out, {32, 8});
}

TEST_CASE("a number that the first thread stores and all read", "[schedules]") {
    Func number("number"), out("out");
    number(x) = x * x;
    out(x, y) = number(0) + x + y;
    out.gpu_tile(x, y, xo, yo, xi, yi, 8, 4);
    number.compute_at(out, xo);
    check(out, {32, 8});
}

TEST_CASE("the place in shared memory of what each thread had for itself", "[schedules]") {
    Func a("a"), b("b"), c("c"), out("out");
    a(x) = x * 3;
    b(x) = a(x) + 1;
    c(x) = b(x) * b(x);
    out(x) = c(x) + c(x + 1);
    out.gpu_tile(x, xo, xi, 8);
    for (Func f : {a, b, c})
        f.compute_at(out, xo).store_in(MemoryType::GPUShared).gpu_threads(x);
    check(out, {40});
}

TEST_CASE("an array in global memory in a loop that is taken apart", "[schedules]") {
    Func f("f"), g("g"), out("out");
    Buffer<int> in = count_up({20, 12});
    f(x, y) = BoundaryConditions::repeat_edge(in)(x - 1, y) +
              BoundaryConditions::repeat_edge(in)(x + 1, y);
    out(x, y) = f(x, y) * 2;
    Var v("v");
    out.split(y, yo, yi, 4).split(x, xo, xi, 4).reorder(xi, xo, yi, yo).gpu_blocks(yi, yo);
    out.always_partition(xo);
    f.compute_at(out, xo).store_in(MemoryType::Heap);
    check(out, {20, 12});
}

TEST_CASE("sizes that differ from block to block", "[schedules]") {
    Func f("f"), out("out");
    RDom r(0, 9, "r");
    f(x) = x;
    f(r) = f(r) * 2;
    out(x) = f(x);
    out.gpu_tile(x, xo, xi, 8);
    f.compute_at(out, xo).gpu_threads(x);
    check(out, {40});
}

TEST_CASE("lanes that are masked off access nothing", "[schedules]") {
    Func f("f"), out("out");
    Buffer<int> in = count_up({10});
    f(x) = x;
    f(x) += in(clamp(x * x % 7, 0, 9)) + in(clamp(x, 0, 9));
    out(x) = f(x);
    f.compute_root();
    f.update().split(x, xo, xi, 4, TailStrategy::PredicateStores).vectorize(xi).gpu_blocks(xo);
    check(out, {10});
}

TEST_CASE("a task that computes on the GPU, and one that reads on the host", "[schedules]") {
    Func f("f"), out("out");
    f(x, y) = x + y * y;
    out(x, y) = f(x, y) + f(x, y + 1);
    f.gpu_tile(x, y, xo, yo, xi, yi, 8, 4);
    SECTION("all of it") {
        f.compute_root().async();
        for (int i = 0; i < 20; i++)
            check(out, {64, 64});
    }
    SECTION("a part while another one is computed") {
        f.compute_at(out, y).hoist_storage_root().ring_buffer(3).async();
        require_message<CompileError>([&] { out.compile_jit(emulator); },
                                      {"f.async()", "kernel", "host", "compute both in kernels"});
    }
}

TEST_CASE("blends over blocks and threads", "[schedules]") {
    for (TailStrategy tail : {TailStrategy::ShiftInwardsAndBlend, TailStrategy::RoundUpAndBlend})
        for (bool blocks : {false, true}) {
            Func f("f");
            f(x, y) = x + y;
            f(x, y) += 1;
            f.update().split(x, xo, xi, 8, tail);
            if (blocks)
                f.update().gpu_blocks(xo);
            else
                f.update().gpu_blocks(y).gpu_threads(xi);
            require_message<CompileError>(
                [&] { f.compile_jit(emulator); },
                {"f.update(0).gpu_", "AndBlend", "overwrite", "GuardWithIf"});
        }
}

extern "C" int gpu_schedules_fill(RawBuffer *out) {
    for (int i = 0; out->host && i < out->dim[0].extent; i++)
        reinterpret_cast<int32_t *>(out->host)[i] = 5 * (out->dim[0].min + i);
    return 0;
}

TEST_CASE("what a C function computes on the host, and a kernel reads", "[schedules]") {
    Func e("e"), out("out");
    e.define_extern("gpu_schedules_fill", {}, Int(32), 1);
    out(x) = e(x) + 1;
    e.compute_root();
    out.gpu_tile(x, xo, xi, 8);
    for (const Target &target : test::gpu_targets()) {
        const Buffer<int> got = out.realize({30}, target);
        for (int i = 0; i < 30; i++)
            REQUIRE(got(i) == 5 * i + 1);
    }
}

TEST_CASE("a kernel within a vectorized loop of the host", "[schedules]") {
    Buffer<int> in = count_up({40});
    Param<uint8_t> p("p", 3);
    for (int lanes : {2, 4, 8})
        for (int params = 0; params < 2; params++) {  // vectors behind what has no alignment
            Func g("g"), h("h");
            g(x, y) = in(x)*in(y);
            if (params > 0)
                g(x, y) += cast<int>(p);
            h(x) = g(x, x / 2) + g(x, x / 2 + 3);
            h.split(x, xo, xi, lanes).vectorize(xi);
            g.compute_at(h, xi).gpu_blocks(y).gpu_threads(x);
            check(h, {32});
        }
}

TEST_CASE("lanes between which other threads store", "[schedules]") {
    for (int width : {2, 3, 4}) {
        Func f("f"), g("g");
        f(x, y) = x * y;
        f(x, y) = f(x, y) * 2 + x;
        g(x, y) = f(x, y) + 1;
        g.tile(x, y, xo, yo, xi, yi, width, 4).gpu_blocks(xo, yo).gpu_threads(xi);
        f.compute_at(g, xo).store_in(MemoryType::GPUShared).gpu_threads(x);
        f.update().vectorize(y, 4).gpu_threads(x);
        check(g, {4 * width, 8});
    }
}

TEST_CASE("a loop over threads without iterations", "[schedules]") {
    Func f("f"), g("g");
    Param<int> n("n", 0);
    RDom r(0, n, "r");
    f(x, y) = x + y;
    f(r, y) = 7;
    f.gpu_blocks(y).gpu_threads(x);
    f.update().gpu_blocks(y).gpu_threads(r);
    for (int extent : {0, 3}) {
        n.set(extent);
        check(f, {10, 4});
    }
}

TEST_CASE("a kernel uses a mask that the host computes", "[schedules]") {
    for (int lanes : {2, 3, 4, 8, 16}) {
        Func f("f"), out("out");
        Var yo("yo"), lane("lane");
        RDom r(0, 4, "r");
        f(x, y) = x + 3 * y;
        out(x, y) = 0;
        out(r, y) += f(r, y);
        out.update().split(y, yo, lane, lanes, TailStrategy::Predicate).vectorize(lane);
        f.compute_at(out, lane).gpu_blocks(x);
        const Target target("host-cuda-cuda_capability_75");
        const auto compiled = driver::checked(Pipeline(out).compiler()).compile_for({out}, target);
        const std::string ptx = codegen::ptx(compiled->program(), target);
        INFO(lanes << " lanes");
        CHECK(ptx.find("_param_0") != std::string::npos);
        CHECK(testing::parameter_fault(ptx) == "");
        check(out, {6, 21});
    }
}

TEST_CASE("loads stand before divisions, which are branches for ptxas", "[schedules]") {
    const Target target("host-cuda-cuda_capability_80");
    ImageParam in(Float(32), 2, "in");
    Func sums("sums"), out("out");
    sums(x, y) = (in(x, y) + in(x + 1, y)) / 3.0f;
    out(x, y) = (sums(x, y) + sums(x, y + 1)) / 3.0f;
    out.split(y, yo, yi, 4).reorder(yi, x, yo).unroll(yi).gpu_tile(x, xo, xi, 32);
    sums.compute_at(out, xi).unroll(y);
    const auto compiled = driver::checked(Pipeline(out).compiler()).compile_for({out}, target);
    const std::string ptx = codegen::ptx(compiled->program(), target);
    const size_t division = ptx.find("div.rn.f32");
    REQUIRE(division != std::string::npos);
    const size_t loads = ptx.find("ld.global");
    REQUIRE(loads != std::string::npos);
    CHECK(ptx.rfind("ld.global") < division);
}
