// Sums of narrow integers, of which the processor adds up neighboring terms by one instruction (ir/narrow_term.h).
#include <catch2/catch_test_macros.hpp>

#include "pipelines.h"
#include "priced.h"
#include <pipe/pipe.h>

using namespace test;
using schedules::Dim;
using schedules::StageSchedule;

namespace {

Var x("x"), y("y");

/// A product of matrices of small integers.
StageSchedule loops_of_product(Type type, int64_t depth) {
    ImageParam a(type, 2, "a"), b(type, 2, "b");
    RDom k(0, a.dim(0).extent(), "k");
    Func product("product");
    const Type sum = type.is_float() ? type : Int(32);
    product(x, y) = cast(sum, 0);
    product(x, y) += cast(sum, a(k, y)) * cast(sum, b(x, k));
    constexpr int64_t n = 512;
    const Result result = autoschedule_for(
        language::freeze({product}),
        {{{{0, n}, {0, n}}},
         {{"a", {{0, depth, 1}, {0, n, depth}}}, {"b", {{0, n, 1}, {0, depth, n}}}},
         {}},
        two_cores());
    INFO(result.report.text);
    return result.schedule.funcs.back().stages[1];
}

bool is_vector(const Dim &dim, bool is_reduction) {
    return dim.kind == LoopKind::Vectorized && dim.is_reduction == is_reduction;
}

}  // namespace

TEST_CASE("products of small integers are added up in pairs", "[autoschedule][narrow_sums]") {
    for (const Type type : {Int(8), UInt(8), Int(16)}) {
        INFO(to_string(type));
        const StageSchedule stage = loops_of_product(type, 256);
        CHECK(stage.atomic);
        CHECK(is_vector(stage.dims[0], true));
        CHECK(is_vector(stage.dims[1], false));
    }
    for (const auto &[type, depth] : {std::pair{UInt(16), 256}, {Float(32), 256}, {Int(8), 255}}) {
        INFO(to_string(type) << ", " << depth);
        const StageSchedule stage = loops_of_product(type, depth);
        CHECK(!stage.atomic);
        CHECK(is_vector(stage.dims[0], false));
    }
}

TEST_CASE("block matching has lanes along rows of the blocks", "[autoschedule][narrow_sums]") {
    ImageParam current(UInt(8), 2, "current"), previous(UInt(8), 2, "previous");
    Var dx("dx"), dy("dy");
    RDom p(0, 16, 0, 16, "p");
    Func distance("distance");
    distance(dx, dy, x, y) = cast<uint16_t>(0);
    distance(dx, dy, x, y) += cast<uint16_t>(
        absd(current(16 * x + p.x, 16 * y + p.y), previous(16 * x + p.x + dx, 16 * y + p.y + dy)));
    const Result result = autoschedule_for(
        language::freeze({distance}),
        {{{{0, 15}, {0, 15}, {0, 60}, {0, 30}}},
         {{"current", {{0, 960, 1}, {0, 480, 960}}}, {"previous", {{0, 975, 1}, {0, 495, 975}}}},
         {}},
        two_cores());
    INFO(result.report.text);
    const StageSchedule &stage = result.schedule.funcs.back().stages[1];
    CHECK(is_vector(stage.dims[0], true));
    CHECK(!stage.atomic);
}

TEST_CASE("the arms of a mux share what they have in common", "[autoschedule][narrow_sums]") {
    ImageParam in(Float(32), 3, "in");
    Var c("c");
    Expr total = 0.0f;
    std::vector<Expr> parts, arms;
    for (int i = 0; i < 9; i++) {
        parts.push_back(in(x + i % 3, y + i / 3, i));
        total += parts.back();
    }
    for (int i = 0; i < 9; i++)
        arms.push_back(parts[size_t(i)] * float(i + 1) / total + total * total);
    Func out("out");
    out(x, y, c) = mux(c, arms);
    const Result result = autoschedule_for(
        language::freeze({out}),
        {{{{0, 512}, {0, 512}, {0, 9}}}, {{"in", {{0, 514}, {0, 514}, {0, 9}}}}, {}}, two_cores());
    INFO(result.report.text);
    const std::vector<Dim> &dims = result.schedule.funcs.back().stages[0].dims;
    CHECK(is_vector(dims[0], false));
    CHECK(dims[1].kind == LoopKind::Unrolled);
}
