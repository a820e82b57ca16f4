// Schedules that are chosen for a GPU: right, in kernels, and without a report of the emulator.

#include <functional>

#include <catch2/catch_test_macros.hpp>

#include "jit/runtime/gpu/emulator.h"
#include <pipe/pipe.h>

#include "test/support/gpu_targets.h"

using namespace Pipe;

namespace {

constexpr int width = 61, height = 43;

/// The kernels that a pipeline launched in one run.
size_t launches_of(const std::function<void()> &run) {
    runtime::EmulatedDevice &device = runtime::emulated_device();
    device.start_counting();
    run();
    return device.stop_counting().size();
}

struct Chosen {
    ImageParam in{Float(32), 2, "in"};
    Var x{"x"}, y{"y"}, c{"c"};
    Func clamped = BoundaryConditions::repeat_edge(in), out{"out"};

    Chosen() {
        Buffer<float> input(width, height);
        input.for_each_element(
            [&](int px, int py) { input(px, py) = float((px * 7 + py * 13) % 31); });
        in.set(input);
    }

    /// Checks every element against the definition; the number of kernels.
    size_t check(std::vector<int32_t> sizes = {width, height}) {
        const Buffer<float> expected = Pipeline(out).realize_reference(sizes);
        size_t kernels = 0;
        for (const Target &target : test::gpu_targets()) {
            Pipeline pipeline(out);
            pipeline.autoschedule(target);
            Buffer<float> result(std::vector<int>(sizes.begin(), sizes.end()));
            const size_t launches = launches_of([&] { pipeline.realize(result); });
            INFO(pipeline.schedule_report());
            INFO(pipeline.schedule_source());
            CHECK(wrong_elements(result, expected) == 0);
            CHECK(pipeline.schedule_report().find("no usable schedule") == std::string::npos);
            if (target.has_feature(Target::CUDAEmulator))
                kernels = launches;
        }
        return kernels;
    }

    static int wrong_elements(const Buffer<float> &result, const Buffer<float> &expected) {
        int wrong = 0;
        result.for_each_element([&](const int *at) {
            const auto value = [&](const Buffer<float> &b) {
                return *reinterpret_cast<const float *>(b.raw_buffer()->address_of(at));
            };
            const float difference = std::abs(value(result) - value(expected));
            wrong += difference > 1e-4f * std::max(1.0f, std::abs(value(expected)));
        });
        return wrong;
    }
};

}  // namespace

TEST_CASE("gpu autoschedule: a pointwise function is one kernel", "[gpu]") {
    Chosen p;
    p.out(p.x, p.y) = p.in(p.x, p.y) * 2.0f + 1;
    CHECK(p.check() == 1);
}

TEST_CASE("gpu autoschedule: the stages of a stencil chain are one kernel", "[gpu]") {
    Chosen p;
    Func rows("rows"), columns("columns");
    Var x = p.x, y = p.y;
    rows(x, y) = (p.clamped(x - 2, y) + p.clamped(x, y) + p.clamped(x + 2, y)) / 3;
    columns(x, y) = (rows(x, y - 2) + rows(x, y) + rows(x, y + 2)) / 3;
    p.out(x, y) =
        select(abs(columns(x, y) - p.clamped(x, y)) > 2.0f, p.clamped(x, y), columns(x, y));
    CHECK(p.check() == 1);
}

TEST_CASE("gpu autoschedule: reductions of a point are in the thread of its consumer", "[gpu]") {
    Chosen p;
    Func sum("sum");
    RDom k(0, 9);
    sum(p.x, p.y) += p.clamped(p.x + k, p.y) * cast<float>(k);
    p.out(p.x, p.y) = max(sum(p.x, p.y), 3.0f);
    CHECK(p.check() == 1);
}

TEST_CASE("gpu autoschedule: an output with updates", "[gpu]") {
    Chosen p;
    RDom k(0, 9);
    p.out(p.x, p.y) = 1.0f;
    p.out(p.x, p.y) += p.clamped(p.x + k, p.y) * cast<float>(k);
    p.out(p.x, p.y) *= 0.5f;
    CHECK(p.check() >= 1);
}

TEST_CASE("gpu autoschedule: a Func of which each channel needs its own and another one is in the "
          "same kernel",
          "[gpu]") {
    Chosen p;
    Func color("color"), wide("wide"), normalized("normalized");
    Var x = p.x, y = p.y, c = p.c;
    color(x, y, c) = p.clamped(x, y) * (c + 1.0f);
    wide(x, y, c) = (color(x - 1, y, c) + 2.0f * color(x, y, c) + color(x + 1, y, c)) / 4 + 1.0f;
    normalized(x, y, c) =
        (wide(x, y - 1, c) + wide(x, y + 1, c)) / (wide(x, y - 1, 3) + wide(x, y + 1, 3));
    p.out = normalized;
    CHECK(p.check({width, height, 3}) == 1);
}

// The threads keep it in registers: how many elements they need is known.
TEST_CASE("gpu autoschedule: half the resolution of a picture with zeros around it", "[gpu]") {
    Chosen p;
    Func rows("rows"), half("half");
    Var x = p.x, y = p.y;
    const Func zeros = BoundaryConditions::constant_exterior(p.in, 0.0f);
    rows(x, y) = (zeros(x, 2 * y - 1) + 3.0f * zeros(x, 2 * y) + zeros(x, 2 * y + 1)) / 5;
    const Func rows_in = BoundaryConditions::constant_exterior(
        rows, 0.0f, {{0, p.in.width()}, {0, p.in.height() / 2}});
    half(x, y) = (rows_in(2 * x - 1, y) + 3.0f * rows_in(2 * x, y) + rows_in(2 * x + 1, y)) / 5;
    p.out = half;
    CHECK(p.check({width / 2, height / 2}) == 1);
}

TEST_CASE("gpu autoschedule: other resolutions", "[gpu]") {
    Chosen p;
    Func half("half");
    Var x = p.x, y = p.y;
    half(x, y) = (p.clamped(2 * x, 2 * y) + p.clamped(2 * x + 1, 2 * y + 1)) / 2;
    p.out(x, y) = p.clamped(x, y) - half(x / 2, y / 2) - half(x / 2 + 1, y / 2);
    CHECK(p.check() >= 1);
}

TEST_CASE("gpu autoschedule: a histogram by atomic additions", "[gpu]") {
    Chosen p;
    Func bins("bins");
    RDom r(0, width, 0, height);
    bins(p.x) = 0;
    bins(clamp(cast<int>(p.in(r.x, r.y)), 0, 63)) += 1;
    p.out(p.x, p.y) = cast<float>(bins(clamp(cast<int>(p.in(p.x, p.y)), 0, 63)));
    CHECK(p.check() == 3);
}

TEST_CASE("gpu autoschedule: a scan along columns", "[gpu]") {
    Chosen p;
    Func scan("scan");
    RDom r(1, height - 1);
    scan(p.x, p.y) = p.in(p.x, p.y);
    scan(p.x, r) += scan(p.x, r - 1);
    p.out(p.x, p.y) = scan(p.x, p.y) * 0.5f;
    CHECK(p.check() >= 1);
}

TEST_CASE("gpu autoschedule: a scatter to cells of its own", "[gpu]") {
    Chosen p;
    Func cells("cells");
    RDom r(0, 56, 0, 40);
    cells(p.x, p.y, p.c) = 0.0f;
    cells(r.x / 4 + 1, r.y / 8, cast<int>(p.in(r.x, r.y)) % 3) += p.in(r.x, r.y);
    p.out(p.x, p.y) = cells(p.x / 8, p.y / 16, 1);
    CHECK(p.check() >= 2);
}

TEST_CASE("gpu autoschedule: a product keeps its sums in registers", "[gpu]") {
    Chosen p;
    Func product("product");
    RDom k(0, width);
    product(p.x, p.y) += p.in(k, p.y) * p.in(p.x, k % height);
    p.out(p.x, p.y) = product(p.x, p.y) + 1.0f;
    CHECK(p.check() == 1);
}

TEST_CASE("gpu autoschedule: threads compute all channels of what takes long for each point",
          "[gpu]") {
    Chosen p;
    Func slow("slow");
    RDom r(-8, 17, -8, 17);
    slow(p.x, p.y) += p.clamped(p.x + r.x, p.y + r.y) * p.clamped(p.x - r.y, p.y + r.x);
    p.out(p.x, p.y, p.c) = slow(p.x, p.y) * cast<float>(p.c + 1);
    CHECK(p.check({width, height, 3}) == 1);
    Pipeline pipeline(p.out);
    pipeline.autoschedule(test::gpu_targets()[0]);
    pipeline.realize({width, height, 3});
    CHECK(pipeline.schedule_report().find("c 3 of 3") != std::string::npos);
}

TEST_CASE("gpu autoschedule: interleaved channels and four dimensions", "[gpu]") {
    Chosen interleaved;
    interleaved.out(interleaved.c, interleaved.x, interleaved.y) =
        interleaved.clamped(interleaved.x + interleaved.c, interleaved.y) *
        cast<float>(interleaved.c + 1);
    interleaved.out.bound(interleaved.c, 0, 3);
    CHECK(interleaved.check({3, width, height}) == 1);

    Chosen four;
    Var z("z"), w("w");
    four.out(four.x, four.y, z, w) = four.clamped(four.x + z, four.y + w);
    CHECK(four.check({width, height, 3, 2}) == 1);
}

TEST_CASE("gpu autoschedule: what calls C functions runs on the host", "[gpu]") {
    Chosen p;
    Func printed("printed"), twice("twice");
    twice(p.x, p.y) = p.clamped(p.x, p.y) + p.clamped(p.x + 1, p.y);
    printed(p.x, p.y) = print_when(twice(p.x, p.y) < -1.0f, twice(p.x, p.y), "negative");
    p.out(p.x, p.y) = printed(p.x, p.y) + printed(min(p.x + 1, width - 1), p.y);
    p.check();
}

TEST_CASE("gpu autoschedule: the user's directives are kept", "[gpu]") {
    Chosen p;
    Func rows("rows");
    Var xo("xo"), xi("xi"), yo("yo"), yi("yi");
    rows(p.x, p.y) = p.clamped(p.x - 1, p.y) + p.clamped(p.x + 1, p.y);
    p.out(p.x, p.y) = rows(p.x, p.y - 1) + rows(p.x, p.y + 1);
    rows.compute_root().gpu_tile(p.x, p.y, xo, yo, xi, yi, 16, 4);
    CHECK(p.check() == 2);
    Pipeline pipeline(p.out);
    pipeline.autoschedule(Target("host-cuda_emulator"));
    CHECK(pipeline.schedule_source().find(", xi, 16") != std::string::npos);
}

TEST_CASE("gpu autoschedule: an update with a loop over one dimension, of extent 1", "[gpu]") {
    Chosen p;
    Func counts("counts");
    RDom r(-1, 3, -1, 3);
    counts(p.x, p.y) = 0.0f;
    counts(clamp(r.x * r.y, 0, 3), p.y) += 1.0f;
    p.out(p.x) = counts(p.x, 0) * 2.0f;
    p.check({1});
    p.check({4});
}

namespace {

std::string source_for_gpu(Func out, const std::vector<int> &sizes) {
    for (size_t d = 0; d < sizes.size(); d++)
        out.set_estimate(out.args()[d], 0, sizes[d]);
    Pipeline pipeline(out);
    pipeline.autoschedule(Target("host-cuda_emulator"));
    return pipeline.schedule_source();
}

}  // namespace

TEST_CASE("gpu autoschedule: a sum of a whole image is divided among threads and blocks", "[gpu]") {
    Chosen p;
    Func total("total"), most("most"), least("least");
    const RDom r(p.in), row(0, 70, "row"), column(0, 130, "column");
    total() += cast<int32_t>(p.in(r.x, r.y));
    most(p.x) = -1000.0f;  // of each column
    most(p.x) = max(most(p.x), p.clamped(p.x, row - 9));
    least(p.y) = 1000.0f;  // of each row
    least(p.y) = min(least(p.y), p.clamped(column, p.y));
    p.out(p.x, p.y) = p.in(p.x, p.y) + cast<float>(total()) / 8.0f + most(p.x) * 3.0f - least(p.y);
    CHECK(p.check() >= 6);
    const std::string source = source_for_gpu(p.out, {width, height});
    INFO(source);
    CHECK(source.find(".gpu_single_thread()") != std::string::npos);
    // Next to each other is what is next to each other in memory.
    for (const char *first :
         {"r_x_t)", "x_t)\n    .gpu_threads(row_x", "column_x_t)\n    .gpu_threads(y"})
        CHECK(source.find(std::string(".gpu_threads(") + first) != std::string::npos);
}

TEST_CASE(
    "gpu autoschedule: an update of slices that it does not read has threads along their rows",
    "[gpu]") {
    Chosen p;
    Func running("running");
    const Var s("s");
    running(p.x, p.y, s) = p.clamped(p.x, p.y);
    const RDom rows(0, 40, "rows");
    for (int i = 1; i < 3; i++)
        running(p.x, rows, i) = max(running(p.x, rows, i - 1), running(p.x, rows + i, i - 1));
    p.out(p.x, p.y) = running(p.x, p.y % 40, 2) + running(p.x, p.y % 40, 1);
    CHECK(p.check() >= 3);
    const std::string source = source_for_gpu(p.out, {width, height});
    INFO(source);
    CHECK(source.find(".gpu_threads(rows_x_t)") != std::string::npos);

    // Each row reads the one before.
    Func scan("scan");
    scan(p.x, p.y, s) = p.clamped(p.x, p.y);
    scan(p.x, rows, 1) = max(scan(p.x, rows, 0), scan(p.x, rows - 1, 1));
    p.out = Func("out");
    p.out(p.x, p.y) = scan(p.x, p.y % 40, 1);
    CHECK(p.check() >= 1);
    CHECK(source_for_gpu(p.out, {width, height}).find("gpu_threads(rows_x") == std::string::npos);
}
