// Blocks of rows: what their rows share, and that they compute the same.
#include <algorithm>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "autoschedule/group_model.h"
#include "autoschedule/row_sharing.h"
#include "autoschedule/search.h"
#include "autoschedule/substitute.h"
#include "graph/check.h"
#include "pipelines.h"
#include "poly/model.h"
#include "priced.h"
#include <pipe/pipe.h>

using namespace test;
using Catch::Approx;

namespace {

autoschedule::StageGraph graph_of(const Func &output, const std::vector<poly::Range> &box) {
    const language::Frozen frozen = language::freeze({output});
    poly::ModelInput input;
    input.outputs = {box};
    return autoschedule::build_stage_graph(frozen.graph, poly::model(frozen.graph, input), {},
                                           frozen.schedule);
}

double sum(const std::vector<double> &parts) {
    double total = 0;
    for (double part : parts)
        total += part;
    return total;
}

struct Vars {
    Var x{"x"}, y{"y"};
};

}  // namespace

TEST_CASE("rows of a block load each element once", "[autoschedule]") {
    Vars v;
    ImageParam in(Float(32), 2, "in"), column(Float(32), 1, "column"), row(Float(32), 1, "row");
    Func f("f");
    // Windows of 3 and 1 rows at two columns; every second row; what all rows, or none, share.
    f(v.x, v.y) = in(v.x, v.y - 1) + in(v.x, v.y) + in(v.x, v.y + 1) + in(v.x + 1, v.y) +
                  in(v.x + 2, 2 * v.y) + in(v.x + 2, 2 * v.y + 2) + column(v.x) + row(v.y);
    const auto graph = graph_of(f, {{0, 99}, {0, 99}});
    const auto &stage = graph.nodes.back().stages[0];
    for (int64_t rows : {2, 4, 8}) {
        const auto shared = autoschedule::share_rows(stage, {1, rows});
        const double n = static_cast<double>(rows);
        CHECK(sum(shared.loads) ==
              Approx(((n + 2) + n + (n + 1) + 1 + n) / n));  // in the order of the definition
        CHECK(shared.live == 3 + 2);
    }
}

TEST_CASE("rows of a block evaluate each substituted value once", "[autoschedule]") {
    Blur p;
    auto graph = graph_of(p.by, {{0, 99}, {0, 99}});
    const auto bx = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                 [](const auto &n) { return n.name == "bx"; });
    autoschedule::substitute(graph, static_cast<int>(bx->id));
    const auto &stage = graph.nodes.back().stages[0];
    REQUIRE(stage.evaluated.size() == 3);
    CHECK(stage.arithmetic.total() == Approx(4 * stage.own.total()));
    const auto shared = autoschedule::share_rows(stage, {1, 8});
    CHECK(sum(shared.evaluated) == Approx(10.0 / 8));
    CHECK(sum(shared.loads) == Approx(3 * 10.0 / 8));
}

namespace {

/// Colors of three values that no other channel needs, mixed by a matrix.
struct Mixed {
    Var x{"x"}, y{"y"}, c{"c"};
    ImageParam red{Float(32), 2, "red"}, green{Float(32), 2, "green"}, blue{Float(32), 2, "blue"},
        matrix{Float(32), 2, "matrix"};
    Func color{"color"}, mixed{"mixed"}, out{"out"};

    Mixed() {
        color(x, y, c) =
            mux(c, {sqrt(red(x, y) + red(x + 1, y)), sqrt(green(x, y)), sqrt(blue(x, y + 1))});
        mixed(x, y, c) = sqrt(color(x, y, 0)) * matrix(0, c) + sqrt(color(x, y, 1)) * matrix(1, c) +
                         sqrt(color(x, y, 2)) * matrix(2, c);
        out(x, y, c) = mixed(x, y, c) * 2;
    }
};

}  // namespace

TEST_CASE("channels that are computed together share the parts that do not depend on them",
          "[autoschedule]") {
    Mixed p;
    auto graph = graph_of(p.out, {{0, 99}, {0, 99}, {0, 2}});
    const auto mixed = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                    [](const auto &n) { return n.name == "mixed"; });
    autoschedule::substitute(graph, static_cast<int>(mixed->id));
    const auto &stage = graph.nodes.back().stages[0];
    // Three square roots for all channels; three products and two sums for each.
    REQUIRE(stage.evaluated.size() == 2);
    const auto shared = autoschedule::share_rows(stage, {2, 3});
    for (size_t i = 0; i < 2; i++) {
        const bool depends = (stage.evaluated[i].variables >> 2 & 1) != 0;
        CHECK(shared.evaluated[i] == Approx(depends ? 1 : 1.0 / 3));
        CHECK(stage.evaluated[i].arithmetic.count == (depends ? 5 : 3));
    }
}

TEST_CASE("a member whose channels share most is computed with all of them at once",
          "[autoschedule]") {
    Mixed p;
    Func smooth("smooth");
    smooth(p.x, p.y, p.c) = p.out(p.x, p.y, p.c) + p.out(p.x + 1, p.y, p.c) +
                            p.out(p.x, p.y + 1, p.c) + p.out(p.x + 1, p.y + 1, p.c);
    const language::Frozen frozen = language::freeze({smooth});
    ScheduleSizes sizes = {{{{0, 2000}, {0, 1500}, {0, 3}}}, {}, {}};
    for (const char *name : {"red", "green", "blue"})
        sizes.images[name] = {{0, 2002}, {0, 1502}};
    sizes.images["matrix"] = {{0, 3}, {0, 3}};
    const Result r = autoschedule_for(frozen, sizes);
    INFO(r.report.text);
    REQUIRE(r.report.plans.size() == 1);
    const autoschedule::Plan &plan = r.report.plans[0];
    REQUIRE(plan.members.size() == 2);
    CHECK(plan.rows[1] == autoschedule::Rows{2, 3});
    const auto &stage = r.schedule[static_cast<FuncId>(plan.members[1])].stages[0];
    CHECK(stage.dims[1].kind == LoopKind::Unrolled);

    const int width = 70, height = 13;
    Buffer<float> got(width, height, 3), want(width, height, 3), plane(width + 2, height + 2);
    plane.fill([](int x, int y) { return static_cast<float>((x * 7 + y * 5) % 11); });
    p.red.set(plane), p.green.set(plane), p.blue.set(plane);
    Buffer<float> weights(3, 3);
    weights.fill([](int i, int j) { return static_cast<float>(i + 2 * j); });
    p.matrix.set(weights);
    Pipeline pipeline(smooth);
    pipeline.autoschedule(get_host_target());
    pipeline.realize(got);
    pipeline.realize_reference(want);
    int wrong = 0;
    got.for_each_element([&](int x, int y, int c) {
        wrong += std::abs(got(x, y, c) - want(x, y, c)) > 1e-5f * std::abs(want(x, y, c));
    });
    CHECK(wrong == 0);
}

namespace {

/// A blur down the columns, whose neighbors along the row are read.
struct Columns {
    Var x{"x"}, y{"y"};
    ImageParam in{Float(32), 2, "in"};
    Func down{"down"}, out{"out"};

    Columns() {
        Expr sum = 0.0f;
        for (int i = 0; i < 5; i++)
            sum += in(x, y + i) * float(i + 1);
        down(x, y) = sum;
        out(x, y) = down(x, y) + down(x + 1, y) + down(x + 2, y);
    }
};

}  // namespace

TEST_CASE("a member that is computed as a whole has blocks of its own rows", "[autoschedule]") {
    Columns p;
    const Priced priced = price(p.out, {{0, 3999}, {0, 2999}});
    const Machine machine = two_cores();
    const autoschedule::GroupModel group = priced.group({"out", "down"}, machine);
    auto plan = [&](int64_t rows, int row_dim) { return *group.plan_of({{1024, rows}, row_dim}); };
    CHECK(plan(24, -1).rows[1] == autoschedule::Rows{1, 8});
    CHECK(plan(27, -1).rows[1] == autoschedule::Rows{1, 8});  // three rows are left over
    CHECK(plan(4, -1).rows[1] == autoschedule::Rows{1, 4});
    CHECK(plan(1, -1).rows[1] == autoschedule::Rows());
    CHECK(plan(24, 1).rows[1] == autoschedule::Rows());  // row by row
    CHECK(plan(24, -1).cost.arithmetic < plan(27, -1).cost.arithmetic);
    CHECK(plan(27, -1).cost.arithmetic < plan(1, -1).cost.arithmetic);
}

TEST_CASE("blocks of a member's rows compute what the definition says", "[autoschedule]") {
    const int height = GENERATE(1, 7, 24, 83), width = 301;
    Columns p;
    Buffer<float> image(width + 2, height + 4), got(width, height), want(width, height);
    image.fill([](int x, int y) { return static_cast<float>((x * 37 + y * 101) % 211); });
    p.in.set(image);
    Var xo("xo"), yo("yo"), xi("xi"), yi("yi"), yb("yb");
    p.out.tile(p.x, p.y, xo, yo, xi, yi, 128, 27, TailStrategy::GuardWithIf).vectorize(xi, 8);
    p.down.compute_at(p.out, xo)
        .split(p.y, yb, p.y, 8, TailStrategy::GuardWithIf)
        .reorder(p.y, p.x, yb)
        .vectorize(p.x, 8)
        .unroll(p.y);
    Pipeline pipeline(p.out);
    pipeline.realize(got);
    pipeline.realize_reference(want);
    int64_t wrong = 0;
    got.for_each_element([&](int x, int y) { wrong += got(x, y) != want(x, y); });
    CHECK(wrong == 0);
}

TEST_CASE("a value that several others need is evaluated once", "[autoschedule]") {
    Vars v;
    ImageParam in(Float(32), 2, "in");
    Func a("a"), b("b"), f("f");
    a(v.x, v.y) = sqrt(in(v.x, v.y));
    b(v.x, v.y) = a(v.x, v.y) + a(v.x + 1, v.y);
    f(v.x, v.y) = b(v.x, v.y) * b(v.x + 1, v.y);
    auto graph = graph_of(f, {{0, 99}, {0, 99}});
    for (int n : {1, 0})  // b, then a
        autoschedule::substitute(graph, n);
    CHECK(graph.nodes.back().stages[0].evaluated.size() == 2 + 3);
    CHECK(graph.nodes.back().stages[0].loads.size() == 3);
}

TEST_CASE("a stencil over rows is computed in blocks of rows", "[autoschedule]") {
    Blur p;
    const language::Frozen frozen = language::freeze({p.by});
    const Result r = autoschedule_for(frozen, p.sizes(6400, 4800));
    INFO(r.report.text);
    CHECK_NOTHROW(graph::check(graph::inline_funcs(r.graph, r.schedule), r.schedule));
    REQUIRE(r.report.plans.size() == 1);
    CHECK(r.report.plans[0].block > 1);
    CHECK(r.report.plans[0].tile[1] % r.report.plans[0].block == 0);
    const auto &dims = r.schedule[frozen.graph.outputs[0]].stages[0].dims;
    CHECK(std::count_if(dims.begin(), dims.end(),
                        [](const auto &d) { return d.kind == LoopKind::Unrolled; }) == 1);
    CHECK(r.report.text.find("rows at a time") != std::string::npos);
}

TEST_CASE("nothing is shared where rows have nothing in common", "[autoschedule]") {
    Vars v;
    Func f("f");
    ImageParam in(Float(32), 2, "in");
    f(v.x, v.y) = sqrt(in(v.x, v.y)) * 2.0f;
    const Result r = autoschedule_for(language::freeze({f}), {{{{0, 4000}, {0, 4000}}}, {}, {}});
    CHECK(r.report.plans[0].block == 1);
}

TEST_CASE("the tile is chosen for the blocks", "[autoschedule]") {
    Vars v;
    const Var x = v.x, y = v.y;
    ImageParam in(Float(32), 2, "in");
    Func dx("dx"), dy("dy"), corners("corners");
    dx(x, y) = in(x + 1, y - 1) + 2 * in(x + 1, y) + in(x + 1, y + 1) - in(x - 1, y - 1) -
               2 * in(x - 1, y) - in(x - 1, y + 1);
    dy(x, y) = in(x - 1, y + 1) + 2 * in(x, y + 1) + in(x + 1, y + 1) - in(x - 1, y - 1) -
               2 * in(x, y - 1) - in(x + 1, y - 1);
    Expr a = 0.0f, b = 0.0f, c = 0.0f;
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++) {
            const Expr along = dx(x + i, y + j), down = dy(x + i, y + j);
            a += along * along, b += along * down, c += down * down;
        }
    corners(x, y) = a * c - b * b - 0.04f * (a + c) * (a + c);
    const Machine machine = two_cores();
    const auto found = autoschedule::search(graph_of(corners, {{0, 4253}, {0, 2829}}), machine,
                                            AutoscheduleOptions());
    const autoschedule::Plan &plan = found.plans.back();
    REQUIRE(plan.block > 1);
    const autoschedule::GroupModel model(found.graph, machine, plan.members);
    for (int64_t columns : {1024, 2128, 4254})
        for (int64_t rows = 2 * plan.block; rows <= 512; rows *= 2) {
            const auto other = model.plan_of({{columns, rows}, plan.row_dim, plan.block});
            INFO(columns << " x " << rows);
            REQUIRE(other);
            CHECK(plan.cost.total <= other->cost.total);
        }
}

TEST_CASE("blocks of rows compute what the definition says", "[autoschedule]") {
    Blur p;
    for (const auto &[width, height] :
         {std::array{3000, 2000}, std::array{1001, 1003}, std::array{37, 9}, std::array{1, 1}}) {
        INFO(width << " x " << height);
        Buffer<uint16_t> image(width + 2, height + 2);
        image.fill([](int x, int y) { return uint16_t((x * 37 + y * 1011) % 20011); });
        p.input.set(image);
        Pipeline pipeline(p.by);
        pipeline.autoschedule(get_host_target());
        Buffer<uint16_t> got(width, height);
        pipeline.realize(got);
        auto bx = [&](int x, int y) {
            return uint16_t(uint16_t(image(x, y) + image(x + 1, y) + image(x + 2, y)) / 3);
        };
        int64_t wrong = 0;
        got.for_each_element([&](int x, int y) {
            wrong += got(x, y) != uint16_t(uint16_t(bx(x, y) + bx(x, y + 1) + bx(x, y + 2)) / 3);
        });
        CHECK(wrong == 0);
    }
}

TEST_CASE("Funcs are inlined that pay only together", "[autoschedule]") {
    Machine machine = two_cores();
    machine.vector_registers = 32;
    auto cost = [&](bool squares_inlined) {
        Harris p;
        if (squares_inlined)
            for (Func f : {p.ixx, p.iyy, p.ixy})
                f.compute_inline();
        return autoschedule::search(graph_of(p.harris, {{0, 2553}, {0, 1529}}), machine,
                                    AutoscheduleOptions())
            .cost;
    };
    CHECK(cost(false) <= cost(true));
}

TEST_CASE("Channels that share values are unrolled around the vector") {
    UnsharpShared p;
    const language::Frozen frozen = language::freeze({p.unsharp});
    const Result r = autoschedule_for(frozen, p.sizes(2560, 1536));
    graph::check(graph::inline_funcs(r.graph, r.schedule), r.schedule);
    INFO(r.report.text);
    REQUIRE(r.report.plans.size() == 1);
    const autoschedule::Plan &plan = r.report.plans[0];
    CHECK(plan.unrolled == 2);
    CHECK(plan.tile[2] == 3);
    // The vector, the channels, then the columns.
    const auto &dims = r.schedule[frozen.graph.outputs[0]].stages[0].dims;
    CHECK(dims[0].kind == LoopKind::Vectorized);
    CHECK(dims[1].kind == LoopKind::Unrolled);
    CHECK(dims[1].name.starts_with("c_"));
    const auto &inlined = r.report.inlined;
    CHECK(std::find(inlined.begin(), inlined.end(), "ratio") != inlined.end());
    CHECK(r.report.text.find("c unrolled") != std::string::npos);
}

TEST_CASE("Channels that share nothing stay a loop of planes") {
    Unsharp p;
    const Result r = autoschedule_for(language::freeze({p.masked}), p.sizes());
    for (const autoschedule::Plan &plan : r.report.plans)
        CHECK(plan.unrolled == -1);
}
