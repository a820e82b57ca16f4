// Sums with lanes along an RVar.
#include <catch2/catch_test_macros.hpp>

#include "pipelines.h"
#include "priced.h"
#include <pipe/pipe.h>

using namespace test;
using schedules::Dim;

namespace {

Var x("x"), y("y"), c("c");

/// The loops of the first update of the Func that is computed last.
std::vector<Dim> loops(const Func &output, const ScheduleSizes &sizes) {
    Machine machine = two_cores();
    machine.fast_math = true;
    const Result result = autoschedule_for(language::freeze({output}), sizes, machine);
    INFO(result.report.text);
    return result.schedule.funcs.back().stages[1].dims;
}

bool has_lanes_along_rvar(const std::vector<Dim> &dims) {
    return dims[0].kind == LoopKind::Vectorized && dims[0].is_reduction;
}

}  // namespace

TEST_CASE("rows that share an operand are added up together", "[autoschedule][row_sums]") {
    constexpr int64_t n = 1024;
    ImageParam matrix(Float(32), 2, "matrix"), vector(Float(32), 1, "vector");
    RDom k(0, n, "k");
    Func product("product"), sums("sums");
    product(y) += matrix(k, y) * vector(k);
    std::vector<Dim> dims = loops(
        product, {{{{0, n}}}, {{"matrix", {{0, n, 1}, {0, n, n}}}, {"vector", {{0, n, 1}}}}, {}});
    CHECK(has_lanes_along_rvar(dims));
    CHECK(dims[1].kind == LoopKind::Unrolled);
    CHECK(!dims[1].is_reduction);
    sums(y) += matrix(k, y);  // nothing to share
    dims = loops(sums, {{{{0, n}}}, {{"matrix", {{0, n, 1}, {0, n, n}}}}, {}});
    CHECK(has_lanes_along_rvar(dims));
    CHECK(dims[1].kind == LoopKind::Serial);
}

TEST_CASE("short sums that begin far apart have lanes along them, as few as leave several steps",
          "[autoschedule][row_sums]") {
    ImageParam signal(Int(16), 1, "signal"), taps(Int(16), 1, "taps");
    RDom k(0, 64, "k");
    Func decimated("decimated");
    decimated(x) += cast<int>(signal(8 * x + k)) * cast<int>(taps(k));
    const std::vector<Dim> dims = loops(
        decimated, {{{{0, 10000}}}, {{"signal", {{0, 80064, 1}}}, {"taps", {{0, 64, 1}}}}, {}});
    CHECK(has_lanes_along_rvar(dims));
}

TEST_CASE("the sums of all channels of a picture in one pass", "[autoschedule][row_sums]") {
    ImageParam in(UInt(8), 3, "in");
    in.dim(0).set_stride(3);
    in.dim(2).set_stride(1).set_bounds(0, 3);
    RDom r(0, in.width(), 0, in.height(), "r");
    Func total("total");
    total(c) += cast<uint32_t>(in(r.x, r.y, c));
    const std::vector<Dim> dims =
        loops(total, {{{{0, 3}}}, {{"in", {{0, 1920, 3}, {0, 1080, 5760}, {0, 3, 1}}}}, {}});
    CHECK(has_lanes_along_rvar(dims));
    CHECK(dims[1].kind == LoopKind::Unrolled);
    CHECK(dims[3].kind == LoopKind::Parallel);
}

TEST_CASE("sums of rows give the same values", "[autoschedule][row_sums]") {
    for (const auto &[width, height] : {std::pair{100, 37}, {64, 8}, {700, 3}}) {
        INFO(width << " x " << height);
        Buffer<int16_t> a(width, height), b(width, 21);
        a.fill([](int p, int q) { return int16_t(p * 37 % 101 - q * 11); });
        b.fill([](int p, int q) { return int16_t(p * 13 % 97 + q * 5 - 40); });
        RDom k(0, width, "k");
        Func products("products");
        products(x, y) = sum(cast<int>(a(k, y)) * cast<int>(b(k, x)));
        Pipeline pipeline(products);
        const Buffer<int> got = pipeline.autoschedule(get_host_target()).realize({21, height}),
                          right = products.realize_reference({21, height});
        got.for_each_element([&](int p, int q) { REQUIRE(got(p, q) == right(p, q)); });
    }
}
