// How often each definition is computed, and what that costs: against closed forms.
#include <cmath>
#include <functional>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "autoschedule/block_order.h"
#include "autoschedule/group_model.h"
#include "autoschedule/where.h"
#include "pipelines.h"
#include "priced.h"

using namespace test;

TEST_CASE("a histogram takes as many iterations as the image has pixels", "[autoschedule]") {
    Var x("x"), y("y");
    ImageParam in(UInt(8), 2, "in");
    RDom r(0, 1000, 0, 800, "r");
    Func counts("counts"), out("out");
    counts(x) = 0;
    counts(in(r.x, r.y)) += 1;
    out(x) = counts(x);
    const Priced p = price(out, {{0, 255}});
    CHECK(p.iterations("counts") == 800000);
    // On one core, some clocks each.
    const autoschedule::Cost cost = p.cost("counts");
    CHECK(cost.updates >= 800000);
    CHECK(cost.total < 20 * 800000);
}

TEST_CASE("a scan loops over the other dimension and its RDom", "[autoschedule]") {
    Var x("x"), y("y");
    RDom r(1, 499, "r");
    Func down("down"), along("along"), out("out");
    down(x, y) = x + y;
    down(x, r) += down(x, r - 1);
    along(x, y) = down(x, y);
    along(r, y) += along(r - 1, y);
    out(x, y) = along(x, y);
    const Priced p = price(out, {{0, 499}, {0, 299}});
    CHECK(p.iterations("down") == 499 * 500);
    CHECK(p.iterations("along") == 499 * 300);
    // The second one's vectors would lie along its scan: it takes elements one by one.
    CHECK(p.cost("along").updates > p.cost("down").updates);
    CHECK(p.cost("along").total < 20 * 499 * 300);
}

TEST_CASE("running sums along a row take vectors, other scans take elements", "[autoschedule]") {
    Var x("x"), y("y");
    RDom r(1, 999, "r");
    auto scan = [&](Type type, auto &&next) {
        Func f("f"), out("out");
        f(x, y) = cast(type, x + y);
        f(r, y) = cast(type, next(f));
        out(x, y) = f(x, y);
        return price(out, {{0, 999}, {0, 99}});
    };
    auto summed = [&](const Func &f) { return f(r - 1, y) + f(r, y); };
    auto averaged = [&](const Func &f) { return f(r - 1, y) / 4 + f(r, y); };
    const Priced sums = scan(Int(32), summed), averages = scan(Int(32), averaged),
                 floats = scan(Float(32), summed);
    CHECK(sums.node("f").stages[1].is_prefix);
    CHECK_FALSE(averages.node("f").stages[1].is_prefix_fast);
    CHECK(floats.node("f").stages[1].is_prefix_fast);
    CHECK_FALSE(floats.node("f").stages[1].is_prefix);
    CHECK(sums.cost("f").updates < averages.cost("f").updates / 2);
    CHECK(floats.cost("f").updates >= 4 * 999 * 100 / 2);  // on two cores, each waits for the last
}

TEST_CASE("a pure definition that an update stores over costs nothing", "[autoschedule]") {
    Var x("x"), y("y");
    RDom r(1, 999, "r");
    Func f("f"), out("out");
    f(x, y) = x * x * y * y;
    f(x, r) = f(x, r - 1) + x;
    out(x, y) = f(x, y);
    CHECK(price(out, {{0, 999}, {0, 999}}).cost("f").arithmetic == 0);
}

TEST_CASE("rows that a loop moves in two dimensions are not kept", "[autoschedule]") {
    Var x("x"), y("y"), z("z");
    auto level = [&](auto &&reads) {
        Func f("f"), out("out");
        f(x, y, z) = x * y * z;
        out(x, y) = reads(f);
        const Priced p = price(out, {{0, 99}, {0, 99}});
        return p.group({"f", "out"}, two_cores()).plan_of({{100, 100}, 1})->levels[1];
    };
    using autoschedule::Level;
    CHECK(level([&](const Func &f) { return f(x, y, 3) + f(x, y + 2, 3); }) == Level::Row);
    CHECK(level([&](const Func &f) { return f(x, y, 3) + f(x, y + 2, y + 1); }) == Level::Tile);
    CHECK(level([&](const Func &f) { return f(x, y, y) + f(x, y + 2, y + 1); }) == Level::Tile);
    CHECK(level([&](const Func &f) { return f(x + y, y, 3) + f(x + y, y + 2, 3); }) == Level::Tile);
    const Expr near = clamp(y, 0, 5);
    CHECK(level([&](const Func &f) { return f(x, y, near) + f(x, y + 2, near); }) == Level::Tile);
}

TEST_CASE("a scatter of points to a grid", "[autoschedule]") {
    Var x("x"), y("y"), z("z"), c("c");
    ImageParam in(Float(32), 2, "in");
    RDom r(0, 1536, 0, 2560, "r");
    Func grid("grid"), out("out");
    grid(x, y, z, c) = 0.0f;
    grid(r.x / 8, r.y / 8, cast<int>(in(r.x, r.y) * 10), c) += select(c == 0, in(r.x, r.y), 1.0f);
    out(x, y, z, c) = grid(x, y, z, c);
    const Priced p = price(out, {{0, 191}, {0, 319}, {0, 10}, {0, 1}});
    const double iterations = 1536.0 * 2560 * 2;
    CHECK(p.iterations("grid") == iterations);
    CHECK(p.cost("grid").total > iterations / 8);
    CHECK(p.cost("grid").total < 30 * iterations);
}

TEST_CASE("sums over a window and a product of matrices loop over all dimensions",
          "[autoschedule]") {
    Var x("x"), y("y");
    ImageParam a(Float(32), 2, "a"), b(Float(32), 2, "b");
    RDom window(0, 5, 0, 7, "window"), k(0, 512, "k");
    Func blur("blur"), product("product"), out("out");
    blur(x, y) += a(x + window.x, y + window.y);
    product(x, y) += blur(k, y) * b(x, k);
    out(x, y) = product(x, y);
    const Priced p = price(out, {{0, 255}, {0, 127}});
    CHECK(p.iterations("blur") == 512.0 * 128 * 35);
    CHECK(p.iterations("product") == 256.0 * 128 * 512);
    const autoschedule::Cost cost = p.cost("product");
    CHECK(cost.updates == 0);
    CHECK(cost.arithmetic > 256.0 * 128 * 512 / 32);  // 16 lanes, two instructions per clock
    CHECK(cost.arithmetic < 256.0 * 128 * 512 * 2);
}

TEST_CASE("of an RDom counts what its condition leaves", "[autoschedule]") {
    Var x("x");
    ImageParam in(UInt(8), 2, "in");
    Param<int> limit("limit");
    auto fraction = [&](const std::function<void(RDom &)> &restrict_to, int size) {
        RDom r(0, size, 0, size, "r");
        restrict_to(r);
        Func sums("sums"), out("out");
        sums(x) = 0;
        sums(x) += in(r.x, r.y) + x;
        out(x) = sums(x);
        const Priced p = price(out, {{0, 99}}, {{"limit", poly::Range::point(7)}});
        return p.iterations("sums") / (100.0 * size * size);
    };
    CHECK(fraction([](RDom &) {}, 20) == 1);
    CHECK(fraction([](RDom &r) { r.where(r.x < r.y); }, 20) == 190.0 / 400);  // exact: few points
    CHECK(fraction([&](RDom &r) { r.where(r.x < limit); }, 20) == 7.0 / 20);
    CHECK(fraction([](RDom &r) { r.where(r.x < 0); }, 20) == 0);
    CHECK(fraction([](RDom &r) { r.where(r.x * r.x + r.y * r.y < 1000000); }, 1000) ==
          Catch::Approx(std::acos(-1.0) / 4).epsilon(0.01));
    CHECK(fraction([](RDom &r) { r.where(r.x + 2 * r.y < 1500 && r.x % 3 == 0); }, 2000) ==
          Catch::Approx(1500.0 * 750 / 2 / 3 / (2000.0 * 2000)).epsilon(0.03));
    CHECK(fraction([&](RDom &r) { r.where(r.x < x); }, 100) == Catch::Approx(0.495).epsilon(0.01));
    CHECK(fraction([&](RDom &r) { r.where(in(r.x, r.y) > 3); }, 20) == 1);  // who knows
}

namespace {

/// Sums of products of columns, all or those above the diagonal.
Priced products_of_columns(bool triangle) {
    Var x("x"), y("y");
    ImageParam in(Float(64), 2, "in");
    RDom k(0, 3000, "k");
    if (triangle)
        k.where(x >= y);
    Func centered("centered"), product("product"), out("out");
    centered(x, y) = in(x, y) - 1.0;
    product(x, y) = Expr(0.0);
    product(x, y) += centered(x, k) * centered(y, k);
    out(x, y) = product(x, y) + product(y, x);
    return price(out, {{0, 2599}, {0, 2599}});
}

}  // namespace

TEST_CASE("an access at the sum of two iterators depends on both", "[autoschedule]") {
    Var x("x"), y("y"), z("z");
    ImageParam in(Float(32), 2, "in");
    Func out("out");
    out(x, y, z) = in(x + y, 0) + in(0, clamp(y, 0, 5));
    const Priced p = price(out, {{0, 99}, {0, 99}, {0, 9}});
    const auto &loads = p.node("out").stages[0].loads;
    REQUIRE(loads.size() == 2);
    auto depends = [&](size_t load, int dim) { return autoschedule::depends_on(loads[load], dim); };
    CHECK((depends(0, 0) && depends(0, 1) && !depends(0, 2)));
    CHECK((!depends(1, 0) && depends(1, 1) && !depends(1, 2)));
}

TEST_CASE("of a triangle, the last tasks have most of the work", "[autoschedule]") {
    const Priced all = products_of_columns(false), half = products_of_columns(true);
    CHECK(all.node("product").stages[1].busiest == std::vector<double>{1, 1});
    for (double busiest : half.node("product").stages[1].busiest)
        CHECK(busiest == Catch::Approx(2 * 15.0 / 16).epsilon(0.02));  // of eight parts
    // Where nothing is selected, no task has more than others.
    Var x("x");
    RDom none(0, 100, "none");
    none.where(none.x < x - 1000);
    Func empty("empty");
    empty(x) = 0;
    empty(x) += x + none;
    CHECK(price(empty, {{0, 99}}).node("empty").stages[1].busiest == std::vector<double>{1});
    const Machine machine = two_cores();
    auto imbalance = [&](const Priced &p, int64_t columns) {
        return p.group({"product"}, machine).evaluate({{columns, 2600}, -1}).imbalance;
    };
    for (int64_t columns : {325, 130})
        CHECK(imbalance(half, columns) - imbalance(all, columns) ==
              Catch::Approx(0.5 * 0.875 * double(columns) / 2600).epsilon(0.1));
    // So there are more of them, of columns where rows would read all of the operand again.
    const auto plan =
        autoschedule::plan_group(half.graph, machine, {int(half.node("product").id)}, false);
    REQUIRE(plan);
    int64_t tasks = 1;
    for (int d : {0, 1})
        tasks = std::max(tasks, (2600 + plan->tile[size_t(d)] - 1) / plan->tile[size_t(d)]);
    CHECK(tasks >= 8);
}

TEST_CASE("what is computed as a whole before its reader does not overlap with it",
          "[autoschedule]") {
    const Priced p = products_of_columns(true);
    const Machine machine = two_cores();
    // The columns of a tile need all rows of what it multiplies: 62 MB for each tile.
    const auto fused = p.group({"product", "centered"}, machine).evaluate({{130, 2600}, -1});
    const auto alone = p.group({"product"}, machine).evaluate({{130, 2600}, -1});
    const double written = 20 * 2600.0 * 3000 * 8 / machine.dram_rate;
    CHECK(fused.total - alone.total > 0.5 * written / machine.cores);
    CHECK(fused.total > alone.total + p.cost("centered").total);
}

TEST_CASE("an unknown coordinate that all lanes share is no gather", "[autoschedule]") {
    Var x("x"), y("y");
    ImageParam in(Float(32), 2, "in"), rows(Int(32), 1, "rows"), columns(Int(32), 1, "columns");
    auto arithmetic = [&](const Func &f) {
        return price(f, {{0, 1023}, {0, 1023}}).cost(f.name()).arithmetic;
    };
    Func plain("plain"), shared("shared"), gather("gather");
    plain(x, y) = in(x, y);
    shared(x, y) = in(x, clamp(rows(y), 0, 1023));
    gather(x, y) = in(clamp(columns(x), 0, 1023), y);
    CHECK(arithmetic(shared) < 3 * arithmetic(plain));
    CHECK(arithmetic(gather) > 3 * arithmetic(shared));
}
