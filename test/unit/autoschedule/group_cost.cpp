// The terms of a group's cost, in ratios that are known.

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "autoschedule/inlining.h"
#include "autoschedule/substitute.h"
#include "priced.h"

using namespace test;
using Catch::Approx;

namespace {

const std::vector<poly::Range> box = {{0, 4095}, {0, 4095}};

/// Of the arithmetic of one stage.
double arithmetic(const Func &f, bool fast_math = false) {
    Machine machine = two_cores();
    machine.fast_math = fast_math;
    const Priced p = price(f, box);
    return p.group({f.name()}, machine).best(false)->cost.arithmetic;
}

}  // namespace

TEST_CASE("what is the same along a row is computed once per row", "[autoschedule]") {
    const Var x("x"), y("y");
    ImageParam in(Float(32), 2, "in"), row(Float(32), 1, "row");
    Func product("product"), of_row("of_row"), of_point("of_point"), inlined("inlined");
    product(x, y) = in(x, y) * row(y);
    of_row(x, y) = in(x, y) * exp(row(y));
    of_point(x, y) = row(y) * exp(in(x, y));
    CHECK(arithmetic(of_row) == Approx(arithmetic(product)).epsilon(0.02));
    CHECK(arithmetic(of_point) > 3 * arithmetic(product));

    Func scale("scale");
    scale(y) = exp(row(y));
    inlined(x, y) = in(x, y) * scale(y);
    Priced p = price(inlined, box);
    autoschedule::substitute(p.graph, static_cast<int>(p.node("scale").id));
    CHECK(p.cost("inlined").arithmetic == Approx(arithmetic(product)).epsilon(0.02));
}

TEST_CASE("a division by what is the same along a row is a product with FastMath",
          "[autoschedule]") {
    const Var x("x"), y("y");
    ImageParam in(Float(32), 2, "in"), row(Float(32), 1, "row");
    Func product("product"), by_row("by_row"), by_column("by_column");
    product(x, y) = in(x, y) * row(y);
    by_row(x, y) = in(x, y) / row(y);
    by_column(x, y) = in(x, y) / row(x);
    CHECK(arithmetic(by_row, true) == Approx(arithmetic(product)).epsilon(0.02));
    CHECK(arithmetic(by_row) > 3 * arithmetic(product));
    CHECK(arithmetic(by_column, true) > 3 * arithmetic(product));
}

TEST_CASE("where a boundary condition repeats elements, lanes are found one by one",
          "[autoschedule]") {
    const Var x("x"), y("y");
    ImageParam in(Float(32), 2, "in");
    const Func edges = BoundaryConditions::repeat_edge(in, {{0, 1000}, {0, 1000}});
    Func blurred("blurred");
    blurred(x, y) = edges(x - 1, y) + edges(x, y) + edges(x + 1, y);
    auto clocks_of_point = [&](int min, int extent) {
        poly::Environment sizes;
        Priced p = price(blurred, {{min, min + extent - 1}, {0, 999}}, sizes);
        autoschedule::inline_free_of_cost(p.graph);
        return p.cost("blurred").arithmetic / extent;
    };
    const double inside = clocks_of_point(10, 960), around = clocks_of_point(0, 1000),
                 beyond = clocks_of_point(-500, 2000);
    CHECK(around > inside);
    CHECK(around < 1.2 * inside);
    CHECK(beyond > 2 * inside);
}

TEST_CASE("what is whole before its reader runs does not overlap with the reader's memory",
          "[autoschedule]") {
    const Var x("x"), y("y");
    ImageParam in(Float(32), 2, "in"), others(Float(32), 3, "others");
    Func slow("slow"), out("out");
    slow(x, y) = exp(exp(exp(exp(in(x, y)))));
    Expr sum = slow(x, y);
    for (int i = 0; i < 4; i++)
        sum += others(x, y, i);
    out(x, y) = sum;
    const Priced p = price(out, box);
    const Machine machine = two_cores();
    const auto group = p.group({"slow", "out"}, machine);
    const auto by_tile = group.evaluate({{512, 4}, -1}), by_row = group.evaluate({{512, 4}, 1});
    CHECK(by_tile.arithmetic == Approx(by_row.arithmetic));
    CHECK(by_tile.far_memory == Approx(by_row.far_memory));
    CHECK(by_row.total < 0.9 * by_tile.total);
    // In sequence, both take at most what they take one after the other.
    const double all =
        by_tile.arithmetic + by_tile.near_memory + by_tile.far_memory + by_tile.overhead;
    CHECK(by_tile.total < all / machine.cores * by_tile.imbalance);
}

TEST_CASE("what a later phase reads of an input comes from beyond L1, unless stages take turns row "
          "by row",
          "[autoschedule]") {
    const Var x("x"), y("y");
    ImageParam in(Float(32), 2, "in");
    RDom c(0, 1024, "c");
    Func total("total"), out("out");
    total(y) += in(c, y);
    out(x, y) = in(x, y) * total(y);
    const Priced p = price(out, {{0, 1023}, {0, 4095}});
    const Machine machine = two_cores();
    const auto group = p.group({"total", "out"}, machine);
    const auto by_tile = group.evaluate({{1024, 64}, -1}), by_row = group.evaluate({{1024, 64}, 1}),
               one_row = group.evaluate({{1024, 1}, -1});
    const double bytes = 1024.0 * 4096 * sizeof(float);
    CHECK(by_tile.near_memory == Approx(bytes / machine.l2_rate));
    CHECK(by_row.near_memory == 0);
    CHECK(one_row.near_memory == 0);
}

TEST_CASE("where stages take turns row by row, inputs start to stream in anew for each row, "
          "results do not wait",
          "[autoschedule]") {
    const Var x("x"), y("y");
    ImageParam in(Float(32), 2, "in");
    Func copy("copy"), out("out");
    copy(x, y) = in(x, y) + 1;
    out(x, y) = copy(x, y) * 2;
    const Priced p = price(out, box);
    const Machine machine = two_cores();
    const auto group = p.group({"copy", "out"}, machine);
    const auto by_tile = group.evaluate({{4096, 64}, -1}), by_row = group.evaluate({{4096, 64}, 1});
    const double more = (by_row.overhead - by_tile.overhead) / 4096;
    CHECK(more > machine.stream_start);
    CHECK(more < machine.stream_start + 3 * machine.nest_overhead);
}

TEST_CASE("rows of which the processor sees the next one do not wait", "[autoschedule]") {
    const Var d("d"), h("h"), t("t");
    ImageParam in(Float(32), 3, "in");
    RDom r(0, 128, "r");
    Func total("total"), out("out");
    total(h, t) += in(r, h, t);
    out(d, h, t) = in(d, h, t) * total(h, t);
    const Priced p = price(out, {{0, 127}, {0, 7}, {0, 8191}});
    Machine machine = two_cores();
    machine.fast_math = true;
    const auto group = p.group({"total", "out"}, machine);
    autoschedule::Tiling single{{128, 8, 32}, 1};
    single.single_rows = true;
    const auto by_tile = group.evaluate({{128, 8, 32}, -1}), by_row = group.evaluate(single);
    CHECK(by_row.scratch_bytes == sizeof(float));
    CHECK(by_row.near_memory == 0);
    CHECK(by_row.overhead <= by_tile.overhead);
    CHECK(by_row.total < by_tile.total);
    CHECK(group.best(false)->inner == std::vector<int>{0, 1, 2});
    CHECK(group.best(false)->row_dim == 1);
}

TEST_CASE("a small table of values that take long is not computed again for each use",
          "[autoschedule]") {
    const Var x("x"), y("y"), t("t");
    ImageParam in(Float(32), 3, "in");
    RDom r(0, 20, "r");
    Func level("level"), rows("rows"), cheap("cheap"), constant("constant"), out("out");
    level(t) = cast<int>(floor(log(cast<float>(2 * t + 1))));
    cheap(t) = t / 4;
    constant(t) = exp(cast<float>(t));
    rows(x, y, t) = in(x, y, clamp(level(t), 0, 5)) + in(x, y, clamp(cheap(t), 0, 5));
    out(x, y) = constant(2) + sum(rows(x, y, r));
    const Priced p = price(out, box);
    auto may_inline = [&](const char *name) {
        return autoschedule::is_inlining_choice(p.graph, static_cast<int>(p.node(name).id));
    };
    CHECK_FALSE(may_inline("level"));
    CHECK(may_inline("cheap"));
    CHECK(may_inline("constant"));
    CHECK(may_inline("rows"));
}
