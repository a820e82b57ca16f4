// What directives record.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <pipe/pipe.h>

#include "language/contents.h"
#include "schedule/loops.h"
#include "test/support/require_message.h"

using namespace Pipe;

namespace {

std::string loops(const Stage &stage) {
    std::string text;
    for (const VarOrRVar &v : stage.loops())
        text += (text.empty() ? "" : " ") + v.name;
    return text;
}

struct Plane {
    Var x{"x"}, y{"y"}, xo{"xo"}, xi{"xi"}, yo{"yo"}, yi{"yi"}, t{"t"};
    Func f{"f"};
    Plane() { f(x, y) = x + y; }
    const schedules::FuncSchedule &schedule() const { return f.contents()->schedule; }
    LoopKind kind(const std::string &name) const {
        for (const auto &d : schedule().stages[0].dims)
            if (d.name == name)
                return d.kind;
        return LoopKind::Serial;
    }
};

/// The values are those of the definitions.
void require_same_plane(Func f) {
    for (int width : {4, 5, 33}) {
        Buffer<int> fast = f.realize({width, 7}), slow = f.realize_reference({width, 7});
        fast.for_each_element([&](int i, int j) { REQUIRE(fast(i, j) == slow(i, j)); });
    }
}

}  // namespace

TEST_CASE_METHOD(Plane, "split, reorder and tile", "[directives]") {
    CHECK(loops(f) == "x y");
    SECTION("split") {
        f.split(x, xo, xi, 8);
        CHECK(loops(f) == "xi xo y");
    }
    SECTION("split that keeps the outer name") {
        f.split(x, x, xi, 8);
        CHECK(loops(f) == "xi x y");
    }
    SECTION("tile") {
        f.tile(x, y, xo, yo, xi, yi, 8, 4);
        CHECK(loops(f) == "xi yi xo yo");
    }
    SECTION("tile that keeps the outer names") {
        f.tile(x, y, xi, yi, 8, 4);
        CHECK(loops(f) == "xi yi x y");
    }
    SECTION("reorder of a subset") {
        f.tile(x, y, xo, yo, xi, yi, 8, 4).reorder(yo, xi);
        CHECK(loops(f) == "yo yi xo xi");
    }
    SECTION("fuse") {
        f.tile(x, y, xo, yo, xi, yi, 8, 4).fuse(xo, yo, t);
        CHECK(loops(f) == "xi yi t");
    }
    SECTION("rename") {
        f.rename(x, t);
        CHECK(loops(f) == "t y");
    }
}

TEST_CASE_METHOD(Plane, "kinds of loops", "[directives]") {
    f.vectorize(x, 8).parallel(y, 4).unroll(y);
    CHECK(loops(f) == "x_lane x y_task y");
    CHECK(kind("x_lane") == LoopKind::Vectorized);
    CHECK(kind("x") == LoopKind::Serial);
    CHECK(kind("y") == LoopKind::Unrolled);
    f.serial(y);
    CHECK(kind("y") == LoopKind::Serial);
}

TEST_CASE_METHOD(Plane, "a split of a parallel loop stays parallel outside, of a vector inside",
                 "[directives]") {
    f.parallel(y).split(y, yo, yi, 4).vectorize(x).split(x, xo, xi, 8);
    CHECK(kind("yo") == LoopKind::Parallel);
    CHECK(kind("yi") == LoopKind::Serial);
    CHECK(kind("xi") == LoopKind::Vectorized);
    CHECK(kind("xo") == LoopKind::Serial);
}

TEST_CASE_METHOD(Plane, "touched tells what the user said", "[directives]") {
    CHECK_FALSE(schedule().touched);
    CHECK_FALSE(schedule().stages[0].touched);
    f.set_estimates({{0, 100}, {0, 100}}).bound(x, 0, 64);
    CHECK_FALSE(schedule().touched);
    CHECK(schedule().estimates.size() == 2);
    CHECK(schedule().bounds.size() == 1);
    f.vectorize(x, 4);
    CHECK(schedule().stages[0].touched);
    f.compute_root();
    CHECK(schedule().touched);
}

TEST_CASE_METHOD(Plane, "a bound given again, or another one", "[directives]") {
    f.bound(x, 0, 3).bound(x, 0, 3);
    CHECK_THROWS_AS(f.bound(x, 1, 4), CompileError);
    CHECK(schedule().bounds.size() == 1);
}

TEST_CASE_METHOD(Plane, "a specialization is a copy", "[directives]") {
    Param<int> p("p");
    f.parallel(y);
    Stage special = f.specialize(p > 3);
    special.vectorize(x, 8);
    f.unroll(y, 2);
    CHECK(loops(special) == "x_lane x y");
    CHECK(loops(f) == "x y_copy y");
}

TEST_CASE_METHOD(Plane, "a directive that fails changes nothing", "[directives]") {
    CHECK_THROWS_AS(f.tile(x, y, xo, yo, xi, yi, 8, 0), CompileError);
    CHECK(loops(f) == "x y");
    CHECK_THROWS_AS(f.vectorize(x, 0), CompileError);
    CHECK_THROWS_AS(f.reorder(x, t), CompileError);
    CHECK(loops(f) == "x y");
    f.tile(x, y, xo, yo, xi, yi, 8, 8);
}

TEST_CASE("transforms replayed", "[loops]") {
    using schedules::Dim;
    using schedules::Transform;
    std::vector<Dim> initial{{"r", LoopKind::Serial, true},
                             {"s", LoopKind::Serial, true},
                             {"x", LoopKind::Serial, false}};
    Transform split{Transform::Kind::Split, "r", "ro", "ri", Expr(4), TailStrategy::Auto};
    Transform fuse{Transform::Kind::Fuse, "t", "s", "ro", Expr(), TailStrategy::Auto};
    Transform bad{Transform::Kind::Fuse, "t", "s", "ri", Expr(), TailStrategy::Auto};

    schedules::Replay good = schedules::replay(initial, {split, fuse});
    CHECK(good.error.empty());
    CHECK(good.keeps_order);
    REQUIRE(good.loops.size() == 3);
    CHECK(good.loops[0].name == "ri");
    CHECK(good.loops[1].name == "t");
    CHECK(good.loops[1].roots == std::vector<std::string>{"r", "s"});
    CHECK_FALSE(schedules::replay(initial, {split, bad}).keeps_order);
    CHECK(schedules::replay(initial, {fuse}).error == "there is no loop 'ro'");
}

TEST_CASE("levels compare by what they name", "[levels]") {
    using schedules::LoopLevel;
    LoopLevel a{LoopLevel::Kind::At, FuncId(1), 0, "x", 1, "f"};
    LoopLevel b{LoopLevel::Kind::At, FuncId(1), 0, "x"};
    CHECK(a == b);
    b.var = "y";
    CHECK_FALSE(a == b);
    LoopLevel root{LoopLevel::Kind::Root, FuncId(7), 3, "x"};
    CHECK(root == LoopLevel{LoopLevel::Kind::Root});
}

// As Halide's users write a block of vectors, or of partial sums.
TEST_CASE("loops that are vectorized around vectors", "[directives]") {
    Var x("x"), y("y"), xi("xi"), yi("yi");
    SECTION("of Vars, with extents that do not fit") {
        Func f("f");
        f(x, y) = x * 3 + y * y;
        f.tile(x, y, xi, yi, 4, 4, TailStrategy::GuardWithIf).vectorize(xi).vectorize(yi);
        require_same_plane(f);
        const std::string nest = Pipeline(f).loop_nest();
        INFO(nest);
        CHECK(nest.find("vectorized xi") != std::string::npos);
        CHECK(nest.find("unrolled yi") != std::string::npos);
    }
    SECTION("of a sum") {
        RDom r(0, 19, "r");
        Func f("f");
        f(x, y) = y;
        f(x, y) += r * x;
        f.update().atomic().vectorize(r, 4).vectorize(x, 4);
        require_same_plane(f);
    }
    SECTION("in a specialization") {
        Param<bool> p("p");
        Func f("f");
        f(x, y) = x - y;
        f.specialize(p).tile(x, y, xi, yi, 4, 2).vectorize(xi).vectorize(yi);
        for (bool value : {false, true}) {
            p.set(value);
            Buffer<int> got = f.realize({8, 6});
            got.for_each_element([&](int i, int j) { REQUIRE(got(i, j) == i - j); });
        }
    }
}

// "g" stands for all of its definitions.
TEST_CASE("compute_at a loop that several definitions have", "[directives]") {
    Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");
    Func f("f"), h("h"), g("g"), out("out");
    RDom r(0, 3, "r");
    f(x, y) = x * 3 + y;
    SECTION("read by both") {
        g(x, y) = f(x, y);
        g(x, y) += f(x + 1, y);
        int where = GENERATE(0, 1, 2, 3);
        if (where == 0)
            f.compute_at(g, y);
        if (where == 1)
            f.compute_at(g, y).hoist_storage_root();
        if (where == 2)
            f.store_at(g, y).compute_at(g, x);
        if (where == 3) {
            g.tile(x, y, xo, yo, xi, yi, 4, 4);
            g.update().tile(x, y, xo, yo, xi, yi, 4, 4).parallel(yo);
            f.compute_at(g, xo).vectorize(x, 4);
        }
        require_same_plane(g);
    }
    SECTION("over RVars in one of them") {
        g(x, y) = f(x, y);
        g(r, y) += f(r + 1, y);
        g(x, y) *= 2;
        f.compute_at(g, y);
        require_same_plane(g);
    }
    SECTION("behind what is inlined, and with what is computed inside") {
        Func inside("inside");
        inside(x, y) = x - y;
        f(x, y) += inside(x, y) + inside(x + 1, y);
        h(x, y) = f(x, y) + f(x + 2, y);
        g(x, y) = h(x, y);
        g(x, y) += h(x, y + 1) + f(x, y);
        g(x, y) += 1;
        f.compute_at(g, y);
        inside.compute_at(f, y);
        require_same_plane(g);
    }
    SECTION("of a Func that is itself computed in several") {
        g(x, y) = f(x, y);
        g(x, y) += f(x, y + 1);
        out(x, y) = g(x, y);
        out(x, y) += g(x + 1, y);
        g.compute_at(out, y);
        f.compute_at(g, x);
        require_same_plane(out);
        const std::string nest = Pipeline(out).loop_nest();
        INFO(nest);
        CHECK(nest.find("produce f$1$1") != std::string::npos);
    }
    SECTION("where one of them needs it, it is computed in that") {
        g(x, y) = x;
        g(x, y) += f(x, y);
        f.compute_at(g, y);
        require_same_plane(g);
        const std::string nest = Pipeline(g).loop_nest();
        INFO(nest);
        CHECK(nest.find("f$1") == std::string::npos);
    }
    SECTION("a definition that does not have the loop") {
        g(x, y) = f(x, y);
        g(r, y) += f(r + 1, y);
        f.compute_at(g, x);
        require_message<CompileError>([&] { g.compile_jit(); },
                                      {"'f' is also used by g.update(0)", "loop 'x'"});
    }
}
