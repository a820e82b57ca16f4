// Definitions of Funcs, Vars and RDoms.
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "ir/print.h"

using namespace Pipe;

TEST_CASE("a pure definition", "[func]") {
    Var x("x"), y("y");
    Func f("f");
    CHECK_FALSE(f.defined());
    f(x, y) = cast<float>(x) + y;
    CHECK(f.defined());
    CHECK(f.dimensions() == 2);
    CHECK(f.args()[1].name() == "y");
    CHECK(f.type() == Float(32));
    CHECK(ir::to_string(f.value()) == "float32(x) + float32(y)");
    CHECK(f.num_update_definitions() == 0);
    CHECK(Expr(f(x, 3)).type() == Float(32));
}

TEST_CASE("updates", "[func]") {
    Var x("x");
    RDom r(0, 10, "r");
    Func f("f");
    f(x) = 0;
    f(r) += 2 * r;
    f(x) = f(x) / 2;
    CHECK(f.num_update_definitions() == 2);
    CHECK(f.update(0).loops()[0].name == "r$x");
    CHECK(f.update(1).loops()[0].name == "x");
    CHECK(f.update(1).name() == "f.update(1)");
}

TEST_CASE("an update of an undefined Func defines it first", "[func]") {
    Var x("x");
    RDom r(0, 10, "r");
    Func sum("sum"), product("product"), histogram("histogram");
    sum(x) += cast<int64_t>(r);
    CHECK(sum.type() == Int(64));
    CHECK(ir::to_string(sum.value()) == "int64(0)");
    product(x) *= cast<float>(r);
    CHECK(ir::to_string(product.value()) == "1.0f");
    histogram(r) += 1;  // a pure Var takes the place of the RVar
    CHECK(histogram.dimensions() == 1);
    CHECK(histogram.num_update_definitions() == 1);
}

TEST_CASE("an integer constant takes the Func's type in an update", "[func]") {
    Var x("x");
    Func f("f");
    f(x) = cast<uint8_t>(x);
    f(0) = 7;
    f(1) += 1;
    CHECK(f.num_update_definitions() == 2);
}

TEST_CASE("Funcs of several values", "[func]") {
    Var x("x");
    Func f("f"), g("g");
    f(x) = Tuple(x, cast<float>(x) / 2);
    CHECK(f.outputs() == 2);
    CHECK(f.types()[1] == Float(32));
    g(x) = f(x)[1] + f(x - 1)[0];
    CHECK(g.type() == Float(32));
    g = Func("h");
    g(x) = f(x);
    CHECK(g.outputs() == 2);
}

TEST_CASE("RDoms", "[rdom]") {
    ImageParam in(UInt(8), 2, "in");
    RDom box(-1, 3, 2, 4, "box"), whole(in), region({{0, 2}, {1, 5}, {2, 6}});
    CHECK(box.dimensions() == 2);
    CHECK(box.y.name() == "box$y");
    CHECK(ir::to_string(box.x.min()) == "-1");
    CHECK(ir::to_string(box[1].extent()) == "4");
    CHECK(ir::to_string(whole.y.extent()) == "in.extent.1");
    CHECK(ir::to_string(region.z.min()) == "2");
}

TEST_CASE("copies of a Func are the same Func", "[func]") {
    Var x("x");
    Func f("f"), g = f;
    g(x) = x;
    CHECK(f.defined());
}

TEST_CASE("coordinates of other integer types", "[func]") {
    Var x("x");
    Func f("f"), g("g");
    f(x) = x;
    g(x) = f(cast<uint8_t>(x));
    CHECK(g.defined());
}

TEST_CASE("what was declared of a Func is known before it is defined", "[func]") {
    Func f(Int(32), 2, "f");
    CHECK(f.dimensions() == 2);
    CHECK(f.type() == Int(32));
}
