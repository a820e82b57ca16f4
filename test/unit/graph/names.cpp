// Names of the user with dots are not taken for those that Pipe derives. (Results are compared with numbers:
// the reference evaluator is given the same names.)
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "support/require_message.h"

using namespace Pipe;

namespace {

Var x("x");

int at(const Func &f, int i) {
    Buffer<int> result(4);
    Pipeline(f).realize(result);
    return result(i);
}

}  // namespace

TEST_CASE("a Func or Buffer named as a value of a Tuple", "[names]") {
    Func tuple("f"), other("f.0"), out("out");
    Buffer<int> image(10, "f.1");
    image.fill(50);
    tuple(x) = Tuple(x, x + 1);
    other(x) = tuple(x)[0] * 10 + tuple(x)[1];
    tuple.compute_root();
    other.compute_root();
    out(x) = other(x) + image(x) * 1000;
    CHECK(at(out, 2) == 50023);

    Buffer<int> a(4), b(4), c(4);
    Pipeline({tuple, other}).realize({a, b, c});
    CHECK(a(2) == 2);
    CHECK(b(2) == 3);
    CHECK(c(2) == 23);
}

TEST_CASE("a Param named as a size of an image, or as where a Func begins", "[names]") {
    Param<int> extent("in.extent.0"), least("g.min.0");
    ImageParam in(Int(32), 1, "in");
    Buffer<int> ten(10);
    in.set(ten);
    extent.set(77);
    least.set(7);
    Func g("g"), out("out");
    g(x) = x;
    g.compute_root();
    out(x) = in.width() * 1000 + extent + (g(x) + g(x + 1) + least) * 100000;
    CHECK(at(out, 2) == 1200000 + 10077);
}

TEST_CASE("a Var named as a size of an image", "[names]") {
    Var like_min("in.min.0"), beside("in_min_0");
    ImageParam in(Int(32), 1, "in");
    Buffer<int> ten(10);
    in.set(ten);
    Func f("f"), out("out");
    f(like_min, beside) = in.left() * 1000 + like_min + beside * 100;
    out(x) = f(x, x + 1);
    SECTION("inlined") {}
    SECTION("with loops of those names") {
        Var inner("in.extent.0");
        f.compute_root().split(like_min, like_min, inner, 2).reorder(beside, inner, like_min);
    }
    CHECK(at(out, 2) == 302);
}

TEST_CASE("a Buffer that is read, and then has fewer dimensions", "[names]") {
    Var y("y");
    Buffer<> image(Int(32), {5, 4, 3});
    Func before("before"), after("after");
    before(x, y) = image(x, y, 1);
    image.slice(2, 2);
    after(x, y) = image(x, y) + before(x, y);
    require_message<RuntimeError>([&] { after.realize({5, 4}); }, {"needs 3 dimensions", "has 2"});
}
