// Outputs: the order of their storage, async, and their sizes in definitions.
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "test/support/require_message.h"

using namespace Pipe;

namespace {
Var x("x"), y("y"), c("c"), xo("xo"), xi("xi");
}

TEST_CASE("reorder_storage of an output is the layout that realize(sizes) makes", "[outputs]") {
    Func f("f");
    f(x, y, c) = x + 10 * y + 100 * c;
    f.reorder_storage(c, x, y);
    SECTION("plain") {}
    SECTION("promised too") {
        f.output_buffer().dim(0).set_stride(3).dim(2).set_stride(1);
    }
    SECTION("grown by a tail") {
        f.split(x, xo, xi, 4, TailStrategy::RoundUp);
    }
    Buffer<int> out = f.realize({5, 4, 3});
    CHECK(out.stride(2) == 1);
    CHECK(out.stride(0) == 3);
    CHECK(out.stride(1) >= 15);
    out.for_each_element(
        [&](int i, int j, int k) { REQUIRE(out(i, j, k) == i + 10 * j + 100 * k); });
    SECTION("a Buffer that is given keeps its own") {
        Buffer<int> planar(8, 4, 3);
        f.output_buffer().dim(0).set_stride(Expr()).dim(2).set_stride(Expr());
        f.realize(planar);
        CHECK(planar(4, 3, 2) == 234);
    }
}

TEST_CASE("async changes nothing for an output", "[outputs]") {
    Func f("f"), g("g");
    f(x) = x + 1;
    g(x) = f(x) * 2;
    f.compute_root().async();
    g.async();
    Buffer<int> one(8), two(8);
    Pipeline({f, g}).realize({one, two});
    CHECK(one(3) == 4);
    CHECK(two(3) == 8);
}

TEST_CASE("sizes of the output in definitions", "[outputs]") {
    Func f(Int(32), 2, "f"), g("g");
    OutputImageParam out = f.output_buffer();
    g(x, y) = out.width() * 1000 + out.height() * 100 + out.left() * 10 + out.top() + x * 0 + y * 0;
    f(x, y) = g(x, y) + select(x == out.right() && y == out.bottom(), 7, 0);
    RDom r(0, out.width());
    f(r + out.left(), out.top()) += out.dim(1).stride();
    SECTION("inlined") {}
    SECTION("stored") {
        g.compute_root();
    }
    Buffer<int> result(6, 4), reference(6, 4);
    result.set_min(2, 3);
    reference.set_min(2, 3);
    f.realize(result);
    f.realize_reference(reference);
    for (int j = 3; j < 7; j++)
        for (int i = 2; i < 8; i++) {
            int expected = 6423 + (i == 7 && j == 6 ? 7 : 0) + (j == 3 ? 6 : 0);
            CHECK(result(i, j) == expected);
            CHECK(reference(i, j) == expected);
        }
}

TEST_CASE("sizes of the output, autoscheduled and as an index", "[outputs]") {
    ImageParam in(Int(32), 1, "in");
    Func f(Int(32), 1, "f");
    f(x) = in(f.output_buffer().right() - x);
    Buffer<int> image(8), result(8);
    for (int i = 0; i < 8; i++)
        image(i) = i * i;
    in.set(image);
    Pipeline pipeline(f);
    SECTION("plain") {}
    SECTION("autoscheduled") {
        pipeline.autoschedule(get_host_target());
    }
    pipeline.realize(result);
    for (int i = 0; i < 8; i++)
        CHECK(result(i) == (7 - i) * (7 - i));
}

TEST_CASE("sizes of the output are part of the key of what is kept", "[outputs]") {
    Func f(Int(32), 1, "f"), g("g");
    g(x) = x + f.output_buffer().width();
    f(x) = g(x % 2);
    g.compute_root().memoize();
    Buffer<int> four = f.realize({4}), six = f.realize({6});
    CHECK(four(1) == 5);
    CHECK(six(1) == 7);
}

TEST_CASE("sizes of what is no output of the pipeline", "[outputs]") {
    Func f("f"), g("g"), h;
    f(x) = x;
    g(x) = x + f.output_buffer().width();
    require_message<CompileError>([&] { g.realize({4}); },
                                  {"output buffer of Func 'f'", "not an output", "Param"});
    require_message<CompileError>([&] { h.output_buffer(); },
                                  {"no definition yet", "output_buffer()"});
}
