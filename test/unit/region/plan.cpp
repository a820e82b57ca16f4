// Region plans at numbers, against the points that the definitions read.

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "region/plan_print.h"
#include "region/plan_verify.h"
#include "support/evaluate.h"
#include "support/region_plan.h"
#include "support/require_message.h"

using namespace Pipe;
using region::Level;
using region::RegionPlan;
using test::Regions;

namespace {

Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");

struct Numbers {
    int64_t min, max;
    bool operator==(const Numbers &other) const = default;
};

/// A plan where sizes and the loops around have values.
class AtNumbers {
  public:
    explicit AtNumbers(const RegionPlan &plan) : plan_(plan) {}

    AtNumbers &set(const std::string &name, int64_t value) {
        names_[name] = {{value, 0}};
        return *this;
    }
    /// Binds the lets of a level, after those further out.
    AtNumbers &enter(const Level &level) {
        for (const auto &[name, value] : plan_.names.lets_at(level))
            set(name, number(value));
        return *this;
    }
    int64_t number(const Expr &e) const { return test::evaluate(e, names_).value().at(0).i; }
    Numbers interval(const region::Interval &i) const { return {number(i.min), number(i.max)}; }

  private:
    const RegionPlan &plan_;
    test::Environment names_;
};

/// An out over [0, width) x [0, height).
AtNumbers of_size(const RegionPlan &plan, int64_t width, int64_t height) {
    AtNumbers result(plan);
    result.set("out.min.0", 0).set("out.min.1", 0);
    result.set("out.extent.0", width).set("out.extent.1", height);
    return result.enter("");
}

/// out reads columns x - 1 to x + 2 and rows y to y + 2 of `in`.
struct Stencil {
    ImageParam image{Int(32), 2, "image"};
    Func in{"in"}, out{"out"};
    Stencil() {
        in(x, y) = image(x, y) + 1;
        out(x, y) = in(x - 1, y) + in(x + 2, y + 1) + in(x, y + 2);
    }
};

}  // namespace

TEST_CASE("the demand of a tile is the box of what its points read", "[region]") {
    Stencil s;
    s.out.tile(x, y, xo, yo, xi, yi, 8, 4);
    s.in.compute_at(s.out, xo);
    const Regions regions(s.out);
    const RegionPlan plan = region::plan_regions(regions.tree);
    region::verify(plan);
    const region::Box &domain = plan.demand.of(regions.id("in"), 0).domain;
    for (int64_t width : {8, 13, 24})
        for (int64_t height : {4, 5, 11})
            for (int64_t column = 0; column * 8 < width; column++)
                for (int64_t row = 0; row * 4 < height; row++) {
                    INFO(width << " x " << height << ", tile " << column << ", " << row);
                    // The last tiles begin further in (ShiftInwards).
                    const int64_t left = std::min(column * 8, width - 8),
                                  top = std::min(row * 4, height - 4);
                    AtNumbers at = of_size(plan, width, height);
                    at.set("out.s0.yo", row).set("out.s0.y.offset", top).enter("out.s0.yo");
                    at.set("out.s0.xo", column).set("out.s0.x.offset", left).enter("out.s0.xo");
                    CHECK(at.interval(domain[0]) == Numbers{left - 1, left + 9});
                    CHECK(at.interval(domain[1]) == Numbers{top, top + 5});
                }
}

TEST_CASE("the demand at the root is the box of what all points read", "[region]") {
    Stencil s;
    s.in.compute_root();
    const Regions regions(s.out);
    const RegionPlan plan = region::plan_regions(regions.tree);
    const AtNumbers at = of_size(plan, 30, 20);
    for (const region::Box &box :
         {plan.demand.of(regions.id("in"), 0).domain, plan.demand.images.at("image"),
          plan.storage.of(regions.id("in")).region}) {
        CHECK(at.interval(box[0]) == Numbers{-1, 31});
        CHECK(at.interval(box[1]) == Numbers{0, 21});
    }
    CHECK(region::to_string(region::plan_root(regions.tree)).find("input image") !=
          std::string::npos);
}

TEST_CASE("a sliding window computes every row once and keeps those that are read", "[region]") {
    Stencil s;
    s.in.store_root().compute_at(s.out, y);
    const Regions regions(s.out);
    const RegionPlan plan = region::plan_regions(regions.tree);
    region::verify(plan);
    const region::FuncStorage &storage = plan.storage.of(regions.id("in"));
    CHECK(storage.window.dim == 1);
    CHECK(storage.window.up);
    CHECK(storage.window.loop == "out.s0.y");
    REQUIRE(storage.folds.size() == 1);
    CHECK(storage.folds[0].dim == 1);
    CHECK(storage.folds[0].live == 3);
    CHECK(ir::is_const(storage.folds[0].factor, 4));
    const region::Box &domain = plan.demand.of(regions.id("in"), 0).domain;
    AtNumbers at = of_size(plan, 30, 20);
    int64_t next = 0;
    for (int64_t row = 0; row < 20; row++) {
        at.set("out.s0.y", row).enter("out.s0.y");
        CHECK(at.interval(domain[1]) == Numbers{next, row + 2});
        next = row + 3;
    }
}

// Boundary conditions between the stages: all rows are clamped, and kept inside of what the tile stores.
TEST_CASE("windows of a chain with boundaries are folded, in tiles as well", "[region]") {
    for (const bool tiled : {false, true}) {
        INFO("tiled " << tiled);
        ImageParam image(Int(32), 2, "image");
        Func a("a"), b("b"), out("out");
        const Expr last = image.dim(1).extent() - 2;
        auto with_boundary = [&](const Func &f, const Expr &row) {
            return select(row >= 1 && row <= last, likely(f(x, clamp(row, 1, last))), 0);
        };
        auto step = [&](const Func &f) {
            return with_boundary(f, y - 1) + with_boundary(f, y) + with_boundary(f, y + 1);
        };
        a(x, y) = image(x, y);
        b(x, y) = step(a);
        out(x, y) = step(b);
        if (tiled)
            out.tile(x, y, xo, yo, xi, yi, 64, 32);
        for (Func f : {a, b})
            f.compute_at(out, tiled ? yi : y);
        for (Func f : {a, b})
            tiled ? f.store_at(out, xo) : f.store_root();
        const Regions regions(out);
        const RegionPlan plan = region::plan_regions(regions.tree);
        region::verify(plan);
        auto live = [&](const char *name) {
            const auto &folds = plan.storage.of(regions.id(name)).folds;
            return folds.empty() ? -1 : folds[0].live;
        };
        CHECK(live("b") == 3);
        CHECK(live("a") == 5);
    }
}

TEST_CASE("code for any size runs a vector loop of unknown extent serially", "[region]") {
    Stencil s;
    s.out.vectorize(x);  // without a split: the extent is that of the output
    s.in.compute_root().split(x, xo, xi, 8).vectorize(xi);
    const Regions regions(s.out);
    const RegionPlan usual = region::plan_regions(regions.tree, false);
    const RegionPlan any_size = region::plan_regions(regions.tree, true);
    region::verify(any_size);
    auto kinds = [&](const RegionPlan &plan, const char *func) {
        return plan.tails.stages[static_cast<size_t>(regions.id(func))][0].kinds;
    };
    using Kinds = std::vector<LoopKind>;
    CHECK(kinds(usual, "out") == Kinds{LoopKind::Serial, LoopKind::Vectorized});
    CHECK(kinds(any_size, "out") == Kinds{LoopKind::Serial, LoopKind::Serial});
    CHECK(kinds(usual, "in") == Kinds{LoopKind::Serial, LoopKind::Serial, LoopKind::Vectorized});
    CHECK(kinds(any_size, "in") == kinds(usual, "in"));
    CHECK(to_string(any_size.tails, regions.tree).find("loop out.s0.x is serial") !=
          std::string::npos);
}

TEST_CASE("an atomic update, whose stores load, does not store beyond the region", "[region]") {
    for (bool atomic : {false, true}) {
        Func f("f");
        RDom r(0, 3, "r");
        f(x) = 1;
        f(x) += r.x;
        f.update().split(x, xo, xi, 4, TailStrategy::PredicateLoads).vectorize(xi);
        if (atomic)
            f.update().atomic();
        const Regions regions(f);
        const RegionPlan plan = region::plan_regions(regions.tree);
        CHECK(plan.tails.stages[static_cast<size_t>(regions.id("f"))][1].tails[0] ==
              (atomic ? region::Tail::Guard : region::Tail::PredicateLoads));
    }
}

TEST_CASE("why a window is not kept", "[region]") {
    auto storage_with = [](const std::function<void(Stencil &)> &schedule) {
        Stencil s;
        schedule(s);
        const Regions regions(s.out);
        const RegionPlan plan = region::plan_regions(regions.tree);
        region::verify(plan);
        return plan.storage.of(regions.id("in"));
    };
    region::FuncStorage once = storage_with([](Stencil &s) { s.in.compute_at(s.out, y); });
    CHECK(once.window.dim == -1);
    CHECK(once.folds.empty());
    region::FuncStorage row = storage_with([](Stencil &s) {
        s.out.bound(x, 0, 16);
        s.in.store_at(s.out, y).compute_at(s.out, x);
    });
    CHECK(row.window.dim == 0);
    CHECK(row.folds.empty());
    CHECK(row.not_folded_because == "rows stay whole");
    region::FuncStorage fixed = storage_with([](Stencil &s) {
        s.out.split(y, yo, yi, 4);
        s.in.store_at(s.out, yi).compute_at(s.out, yi);
    });
    CHECK(fixed.not_folded_because.empty());
}

TEST_CASE("the coordinates of an element in memory", "[region]") {
    region::FuncStorage storage;
    const Expr at = ir::make_variable(Int(32), "at"), row = ir::make_variable(Int(32), "row");
    storage.region = {{ir::make_int(Int(32), 5), ir::make_int(Int(32), 9)},
                      {ir::make_int(Int(32), 7), ir::make_int(Int(32), 90)}};
    storage.folds = {{1, ir::make_int(Int(32), 4), 3}};
    storage.relative = true;
    storage.copy = ir::make_int(Int(32), 2);
    const std::vector<Expr> place = storage.place({at, row});
    REQUIRE(place.size() == 3);
    const test::Environment names{{"at", {{6, 0}}}, {"row", {{11, 0}}}};
    CHECK(test::evaluate(place[0], names).value()[0].i == 1);
    CHECK(test::evaluate(place[1], names).value()[0].i == 3);
    CHECK(test::evaluate(place[2], names).value()[0].i == 2);
}

TEST_CASE("plans that contradict themselves are found", "[region]") {
    Stencil s;
    s.out.split(x, xo, xi, 8);
    s.in.store_root().compute_at(s.out, y);
    const Regions regions(s.out);
    const RegionPlan plan = region::plan_regions(regions.tree);
    const auto in = static_cast<size_t>(regions.id("in")),
               out = static_cast<size_t>(regions.id("out"));
    auto refused = [&](const std::function<void(RegionPlan &)> &damage, const char *why) {
        RegionPlan damaged = plan;
        damage(damaged);
        require_message<InternalError>([&] { region::verify(damaged); }, {why});
    };
    region::verify(plan);
    refused([&](RegionPlan &p) { p.storage.funcs[in].folds[0].live = 5; }, "5 are live");
    refused([&](RegionPlan &p) { p.storage.funcs[in].region.pop_back(); }, "in");
    refused([&](RegionPlan &p) { p.storage.funcs[in].window.loop = "out.s0.z"; }, "out.s0.z");
    refused([&](RegionPlan &p) { p.tails.stages[out][0].tails.clear(); }, "have no tail");
    refused([&](RegionPlan &p) { p.demand.loops.erase("out.s0.y"); }, "out.s0.y");
    refused([&](RegionPlan &p) { p.demand.stages[out][0].ranges.erase("xi"); }, "xi");
    refused(
        [&](RegionPlan &p) {
            p.names.lets[""] = {{"a", ir::make_variable(Int(32), "b")},
                                {"b", ir::make_variable(Int(32), "out.min.0")}};
        },
        "'a' uses 'b'");
}

TEST_CASE("a region that lacks what is computed is found", "[region]") {
    Stencil s;
    s.in.compute_root();
    const Regions regions(s.out);
    RegionPlan plan = region::plan_regions(regions.tree);
    region::Interval &rows = plan.storage.funcs[static_cast<size_t>(regions.id("in"))].region[1];
    rows.max = ir::sub(rows.max, ir::make_int(Int(32), 1));
    require_message<InternalError>([&] { region::verify(plan); }, {"in.s0 computes 'y'"});
}

TEST_CASE("a C function is queried once per level, aligned bounds or not", "[region]") {
    for (bool aligned : {false, true}) {
        Func in("in"), stage("stage"), out("out");
        in(x, y) = x + y;
        in.compute_root();
        stage.define_extern("pipe_region_test", {in}, Int(32), {x, y});
        out(x, y) = stage(x, y);
        stage.compute_at(out, y);
        if (aligned)
            stage.align_bounds(x, 4);
        const Regions regions(out);
        const RegionPlan plan = region::plan_regions(regions.tree);
        region::verify(plan);
        int queries = 0;
        for (const auto &[name, value] : plan.names.lets_at(""))
            queries += name.find("query.code") != std::string::npos;
        CHECK(queries == 1);
    }
}

// The loop v3 knows less of the part that is needed than the loop v7 inside of it (PIPE_FUZZ_SEED=40008999).
TEST_CASE("memory has room for the tail of each part, wherever the part begins", "[region]") {
    Func g("g"), out("out");
    ImageParam image(Int(32), 1, "image");
    Var u("u"), uo("uo"), ui("ui");
    RDom r(0, 2, "r");
    RVar v2("v2"), v3("v3"), v7("v7"), v8("v8");
    g(x, u) = x;
    g(x, u) += image(u);
    out(x) = 0;
    out(x) += g(x, r);
    out.update().split(r, v2, v3, 4).split(v2, v7, v8, 4).reorder(v8, v7, v3, x);
    g.store_at(out, v3).compute_at(out, v7).split(u, uo, ui, 5);
    const Regions regions(out);
    const RegionPlan plan = region::plan_regions(regions.tree);
    const region::Box &domain = plan.demand.of(regions.id("g"), 0).domain;
    const region::Range &memory = plan.storage.of(regions.id("g")).allocation[1];
    for (int64_t part = 0; part < 4; part++) {
        AtNumbers at(plan);
        at.set("out.min.0", 0).set("out.extent.0", 3).enter("");
        at.set("out.s1.x", 0).enter("out.s1.x").set("out.s1.v3", part).enter("out.s1.v3");
        const int64_t min = at.number(memory.min), extent = at.number(memory.extent);
        const Numbers computed = at.set("out.s1.v7", 0).enter("out.s1.v7").interval(domain[1]);
        INFO("part " << part);
        CHECK(computed.max - computed.min + 1 == 5);
        CHECK(min <= computed.min);
        CHECK(computed.max <= min + extent - 1);
    }
}

// It had room for the whole tile, in rows of which a quarter was used: 512 bytes apart, they shared few sets of the L1 cache.
TEST_CASE("the copy of a panel in a tile of a product has its own columns only", "[region]") {
    ImageParam a(Float(32), 2, "a"), b(Float(32), 2, "b");
    RDom k(0, a.width(), "k");
    Func product("product"), out("out");
    Var jo("jo"), ji("ji"), jw("jw"), jv("jv"), io("io"), ii("ii"), j("j"), i("i");
    product(j, i) = 0.0f;
    product(j, i) += a(k, i) * b(j, k);
    out(j, i) = product(j, i) + 1.0f;
    out.split(j, jo, ji, 128).split(i, io, ii, 256).reorder(ji, ii, io, jo);
    product.compute_at(out, io).update().split(j, jw, jv, 32).reorder(jv, i, k.x, jw);
    Func panel = b.in(product);
    panel.compute_at(product.update(), jw);
    const Regions regions(out);
    const RegionPlan plan = region::plan_regions(regions.tree);
    int64_t columns = 0;
    const region::Range &allocated = plan.storage.of(regions.id(panel.name())).allocation[0];
    CHECK(ir::as_const_int(allocated.extent, &columns));
    CHECK(columns == 32);
}

// The hull of clamped coordinates is the clamp of their hull, and what else the condition of constant_exterior says
// makes no other ends: from the first to the last tap there are 4 elements at most, which a loop can be unrolled for.
TEST_CASE("the taps of a picture with a border of zeros are as many as they are inside") {
    ImageParam in(Float(32), 2, "in");
    Func rows("rows"), out("out");
    rows(x, y) = in(x, 2 * y) + in(x, 2 * y + 1);
    const Func zeros =
        BoundaryConditions::constant_exterior(rows, 0.0f, {{0, in.width()}, {0, in.height() / 2}});
    out(x, y) = zeros(2 * x - 1, y) + zeros(2 * x, y) + 3.0f * zeros(2 * x + 2, y);
    rows.compute_at(out, x).unroll(x);
    constexpr int width = 14, height = 10;
    Buffer<float> input(width, height);
    input.for_each_element([&](int i, int j) { input(i, j) = float(i * 17 + j * 5); });
    in.set(input);
    const Buffer<float> result = out.realize({width / 2 + 4, height / 2 + 1});
    result.for_each_element([&](int i, int j) {
        auto at = [&](int k) {
            const bool inside = k >= 0 && k < width && j < height / 2;
            return inside ? input(k, 2 * j) + input(k, 2 * j + 1) : 0.0f;
        };
        CHECK(result(i, j) == at(2 * i - 1) + at(2 * i) + 3.0f * at(2 * i + 2));
    });
}
