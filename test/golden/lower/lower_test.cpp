// Schedules in, loops out.

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "ir/print.h"
#include "language/freeze.h"
#include "lower/lower.h"
#include "support/blur.h"
#include "support/golden.h"

using namespace Pipe;
using test::Blur;

namespace {

Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");

/// With masks for all types: the texts are the same on every machine.
const Target target("x86-64-linux-avx512_skylake");

/// `strides`: of dense images by default.
std::string loops(const Func &output, const std::string &stop_after = "",
                  const std::vector<ir::KnownStride> &strides = {}) {
    language::Frozen frozen = language::freeze({output});
    lower::LowerOptions options;
    options.stop_after = stop_after;
    options.strides = strides;
    if (strides.empty()) {
        options.strides = {{output.name(), 0, 1}};
        for (const graph::Image &image : frozen.graph.images)
            options.strides.push_back({image.name, 0, 1});
    }
    graph::Graph inlined = graph::inline_funcs(frozen.graph, frozen.schedule);
    std::string text = ir::to_string(lower::lower(inlined, frozen.schedule, target, options).body);
    // The checks of arguments have tests of their own (test/error).
    std::string kept;
    for (size_t at = 0; at < text.size();) {
        size_t end = text.find('\n', at) + 1;
        std::string line = text.substr(at, end - at);
        if (line.find("assert ") == std::string::npos)
            kept += line;
        at = end;
    }
    return kept;
}

}  // namespace

TEST_CASE("a wrong golden is found", "[golden]") {
    CHECK(golden::difference("a\nb\n", "a\nb\n").empty());
    CHECK(golden::difference("a\nb\n", "a\nc\n").find("- b\n+ c") != std::string::npos);
    CHECK(golden::difference("a\n", "a\nb\n").find("+ b") != std::string::npos);
}

TEST_CASE("overlapped tiles", "[golden]") {
    Blur b;
    b.by.tile(x, y, xo, yo, xi, yi, 64, 32).parallel(yo).vectorize(xi, 16);
    b.bx.compute_at(b.by, xo).vectorize(x, 16);
    CHECK_GOLDEN("lower/overlapped_tiles.txt", loops(b.by));
}

TEST_CASE("a sliding window, its storage folded", "[golden]") {
    Blur b;
    b.by.split(y, yo, yi, 32).parallel(yo).vectorize(x, 16);
    b.bx.store_at(b.by, yo).compute_at(b.by, yi).vectorize(x, 16);
    CHECK_GOLDEN("lower/sliding_window.txt", loops(b.by, "simplify"));
}

TEST_CASE("a tail under a guard is out of the steady state", "[golden]") {
    Blur b;
    b.by.vectorize(x, 16, TailStrategy::GuardWithIf);
    CHECK_GOLDEN("lower/guarded_tail.txt", loops(b.by));
}

TEST_CASE("a boundary condition costs nothing in the middle", "[golden]") {
    ImageParam input(Float(32), 2, "input");
    Func edge = BoundaryConditions::repeat_edge(input);
    Func out("out");
    out(x, y) = edge(x - 1, y) + edge(x + 1, y);
    out.vectorize(x, 8);
    CHECK_GOLDEN("lower/repeat_edge.txt", loops(out));
}

TEST_CASE("an update with an RDom", "[golden]") {
    ImageParam input(UInt(8), 2, "input");
    Func histogram("histogram"), out("out");
    RDom r(0, input.width(), 0, input.height(), "r");
    histogram(x) = 0;
    histogram(cast<int>(input(r.x, r.y))) += 1;
    histogram.compute_root();
    out(x) = histogram(x) * 2;
    CHECK_GOLDEN("lower/histogram.txt", loops(out));
}

TEST_CASE("running sums, and the points that they store over", "[golden]") {
    ImageParam input(UInt(8), 2, "input");
    Func sums("sums");
    RDom r(1, input.width(), "r");
    sums(x, y) = 0;
    sums(r, y) = sums(r - 1, y) + input(r - 1, y);
    sums.vectorize(x, 16);
    CHECK_GOLDEN("lower/running_sums.txt", loops(sums));
}

TEST_CASE("two stages in one loop", "[golden]") {
    ImageParam input(Float(32), 2, "input");
    Func a("a"), b("b"), out("out");
    a(x, y) = input(x, y) + 1.0f;
    b(x, y) = input(x, y) * 2.0f;
    out(x, y) = a(x, y - 1) + b(x, y + 1);
    a.compute_root();
    b.compute_root().compute_with(a, y);
    CHECK_GOLDEN("lower/compute_with.txt", loops(out));
}

TEST_CASE("one schedule for each case", "[golden]") {
    ImageParam input(Float(32), 2, "input");
    Param<bool> wide("wide");
    Func out("out");
    out(x, y) = input(x, y) * 2.0f;
    out.specialize(wide).vectorize(x, 8);
    CHECK_GOLDEN("lower/specialize.txt", loops(out));
}

TEST_CASE("strides of interleaved images are constants", "[golden]") {
    Var c("c");
    ImageParam in(UInt(8), 3, "in");
    Func f("f");
    f(x, y, c) = in(x, y, c) / 2;
    f.bound(c, 0, 3).reorder(c, x, y).unroll(c).vectorize(x, 16);
    const std::string text = loops(f, "", {{"in", 0, 3}, {"in", 2, 1}, {"f", 0, 3}, {"f", 2, 1}});
    INFO(text);
    for (const char *unknown : {"in.stride.0", "in.stride.2", "f.stride.0", "f.stride.2"})
        CHECK(text.find(unknown) == std::string::npos);
    CHECK(text.find("in.stride.1") != std::string::npos);
}

TEST_CASE("a block of rows is unrolled only as a whole", "[golden]") {
    ImageParam input(UInt(16), 2, "input");
    Func out("out");
    out(x, y) = input(x, y) + 1;
    out.split(y, yo, yi, 4, TailStrategy::GuardWithIf)
        .split(x, xo, xi, 16, TailStrategy::GuardWithIf)
        .reorder(xi, yi, xo, yo)
        .vectorize(xi)
        .unroll(yi);
    CHECK_GOLDEN("lower/whole_blocks.txt", loops(out, "blocks"));
}

TEST_CASE("sums in registers start from the pure definition", "[golden]") {
    ImageParam a(Float(32), 2, "a"), b(Float(32), 2, "b");
    RDom k(0, a.width(), "k");
    Func product("product"), out("out");
    product(x, y) = cast<float>(x);
    product(x, y) += a(k, y) * b(x, k);
    out(x, y) = product(x, y) * 2;
    product.compute_root();
    product.update()
        .split(x, xo, xi, 16)
        .split(y, yo, yi, 4)
        .reorder(xi, yi, k, xo, yo)
        .vectorize(xi)
        .unroll(yi);
    CHECK_GOLDEN("lower/register_sums.txt", loops(out, "simplify"));
}
