// Domains and accesses of whole pipelines.

#include <catch2/catch_test_macros.hpp>

#include "language/freeze.h"
#include "poly/model.h"
#include <pipe/func.h>
#include <pipe/operators.h>
#include <pipe/param.h>
#include <pipe/rdom.h>
#include <pipe/var.h>

using namespace Pipe;
using poly::Access;
using poly::Environment;
using poly::FuncModel;
using poly::Model;
using poly::StageModel;

namespace {

using Box = std::vector<poly::Range>;

struct Frozen {
    graph::Graph graph;
    Model model;

    Frozen(const Func &output, Box box, Environment names = {}, unsigned long quota = 100000)
        : graph(language::freeze({output}).graph),
          model(poly::model(graph, {{box}, names, quota})) {}

    const FuncModel &operator[](const std::string &name) const {
        for (const graph::FuncNode &f : graph.funcs) {
            if (f.name == name)
                return model.funcs[static_cast<size_t>(f.id)];
        }
        throw std::logic_error("no Func " + name);
    }
};

Var x("x"), y("y");

}  // namespace

TEST_CASE("Blur: what is needed of each stage and of the image") {
    ImageParam in(UInt(16), 2, "in");
    Func bx("bx"), by("by");
    bx(x, y) = in(x, y) + in(x + 1, y) + in(x + 2, y);
    by(x, y) = bx(x, y) + bx(x, y + 1) + bx(x, y + 2);
    const Frozen f(by, {{0, 99}, {0, 49}});
    CHECK(f["bx"].box == Box{{0, 99}, {0, 51}});
    CHECK(f.model.images[0] == Box{{0, 101}, {0, 51}});
    const StageModel &stage = f["by"].stages[0];
    CHECK(stage.points() == 5000);
    CHECK(stage.loads.size() == 3);
    for (const Access &load : stage.loads) {
        CHECK(load.coords[0].distance == poly::Range{0, 0});
        CHECK(load.coords[1].constant);
    }
    CHECK(f.model.inexact == 0);
}

TEST_CASE("Each element that is read counts once") {
    ImageParam in(Float(32), 2, "in");
    Func f("f");
    f(x, y) = in(x, y) * in(x, y) + in(x, y) / (in(x + 1, y) + in(1 + x, y));
    CHECK(Frozen(f, {{0, 9}, {0, 9}})["f"].stages[0].loads.size() == 2);
}

TEST_CASE("Pyramid: rates multiply, needed regions shrink and grow") {
    ImageParam in(Float(32), 1, "in");
    Func down("down"), up("up"), out("out");
    down(x) = in(2 * x - 1) + in(2 * x) + in(2 * x + 1);
    up(x) = down(x / 2) + down((x + 1) / 2);
    out(x) = up(x) + in(x);
    const Frozen f(out, {{0, 99}});
    CHECK(f["down"].box == Box{{0, 50}});
    CHECK(f.model.images[0] == Box{{-1, 101}});
    CHECK(f["up"].stages[0].loads[0].coords[0].den == 2);
    CHECK(f["down"].stages[0].loads[0].coords[0].num == 2);
}

TEST_CASE("Reductions iterate over their domain; updates need room for what they write") {
    ImageParam in(UInt(8), 2, "in");
    Func histogram("histogram"), out("out");
    RDom r(0, 640, 0, 480, "r");
    histogram(x) = 0;
    histogram(cast<int32_t>(in(r.x, r.y))) += 1;
    out(x) = histogram(x + 3);
    const Frozen f(out, {{0, 9}});
    CHECK(f["histogram"].box == Box{{0, 255}});
    CHECK(f["histogram"].stages[1].pure == 0);
    CHECK(f["histogram"].stages[1].points_per_pure_point() == 640 * 480);
    CHECK(f.model.images[0] == Box{{0, 639}, {0, 479}});
    CHECK(f.model.inexact > 0);
}

TEST_CASE("An index computed in floats and clamped has a range") {
    ImageParam in(Float(32), 1, "in");
    Func table("table"), out("out");
    table(x) = x;
    out(x) = table(cast<int32_t>(clamp(in(x), 0.0f, 1.0f) * 10.0f + 0.5f));
    CHECK(Frozen(out, {{0, 99}})["table"].box == Box{{0, 10}});
}

TEST_CASE("Without quota the intervals take over, and give the same regions for stencils") {
    ImageParam in(Float(32), 2, "in");
    Func a("a"), b("b");
    a(x, y) = in(x - 1, y) + in(x + 1, y);
    b(x, y) = a(x, y - 2) + a(x, y + 2);
    const Frozen exact(b, {{0, 99}, {0, 99}}), starved(b, {{0, 99}, {0, 99}}, {}, 1);
    CHECK(exact.model.exhausted == 0);
    CHECK(starved.model.exhausted > 0);
    CHECK(starved["a"].box == exact["a"].box);
    CHECK(starved.model.images == exact.model.images);
    CHECK_FALSE(starved["b"].stages[0].loads[0].coords[1].constant);
}

TEST_CASE("A region that nothing bounds is unbounded, not wrong") {
    ImageParam in(Int(32), 1, "in");
    Func table("table"), out("out");
    table(x) = x;
    out(x) = table(in(x));
    const Frozen f(out, {{0, 9}});
    CHECK_FALSE(f["table"].bounded());
    CHECK(f["table"].elements() == poly::Range::infinite);
}

TEST_CASE("Values that are computed are coordinates within their limits") {
    ImageParam in(UInt(8), 2, "in");
    Func offset("offset"), loose("loose"), table("table"), out("out");
    offset(x, y) = clamp(cast<int>(in(x, y)) - 128, -9, 9);
    loose(x, y) = cast<int>(in(x, y)) * in(y, x);
    table(x, y) = x + y;
    out(x, y) = table(x + offset(x, y), y) + table(x, loose(x, y));
    const Frozen f(out, {{0, 99}, {0, 49}});
    const FuncModel &needed = f["table"];
    CHECK(needed.box == Box{{-9, 108}, {0, 255 * 255}});
}

TEST_CASE("Coordinates know the RVars that they depend on, and advance with") {
    ImageParam in(Float(32), 2, "in"), table(Int(32), 1, "table");
    RDom r(0, 9, 0, 7, "r");
    Func shifted("shifted"), out("out");
    shifted(x, y) = in(x + 3, y) + in(2 * x, y) + in(y, x);
    out(x, y) = 0.0f;
    out(x, y) += shifted(r.x - 1, r.y + y) + in(clamp(table(r.y), 0, 9), max(r.x, 3));
    const Frozen f(out, {{0, 99}, {0, 49}});
    const auto &loads = f["out"].stages[1].loads;
    auto of = [&](FuncId func, int image) -> const Access & {
        return *std::find_if(loads.begin(), loads.end(),
                             [&](const Access &a) { return a.func == func && a.image == image; });
    };
    FuncId id = FuncId::None;
    for (const graph::FuncNode &func : f.graph.funcs)
        id = func.name == "shifted" ? func.id : id;
    const Access &pure = of(id, -1);
    CHECK(pure.coords[0].follows == 0);
    CHECK(pure.coords[0].reductions == 1);
    CHECK(pure.coords[1].reductions == 2);
    const auto in_image = std::find_if(f.graph.images.begin(), f.graph.images.end(),
                                       [](const auto &i) { return i.name == "in"; });
    const Access &gather = of(FuncId::None, int(in_image - f.graph.images.begin()));
    CHECK(gather.coords[0].follows == -1);
    CHECK(gather.coords[0].reductions == 2);
    CHECK(gather.coords[1].follows == -1);  // not while it is less than 3
    CHECK(gather.coords[1].reductions == 1);
    // Through a Func that is substituted.
    const auto &inner = f["shifted"].stages[0].loads;
    REQUIRE(inner.size() == 3);
    CHECK(poly::compose(inner[0], pure.coords).coords[0].follows == 0);
    CHECK(poly::compose(inner[1], pure.coords).coords[0].follows == -1);  // by two
    CHECK(poly::compose(inner[2], pure.coords).coords[1].follows == 0);
    CHECK(poly::compose(inner[2], pure.coords).coords[0].reductions == 2);
}
