// Coordinates that floats say lie in their bounds, to the last rounding.
#include <pipe/pipe.h>

#include <random>

#include <catch2/catch_test_macros.hpp>

#include "differential/against_reference.h"
#include "support/require_message.h"

using namespace Pipe;

namespace {

Var x("x"), y("y");

/// Every element that is read was computed, or the memory would be overrun: g is no larger than asked.
void check_inside(Pipeline &pipeline, int width) {
    testing::GuardedBuffer result(Int(32), {{0, width}}, 0, false);
    testing::GuardedContext context;
    pipeline.realize(&context, Realization({result.buffer}), Target());
    CHECK(context.overrun() == 0);
    Buffer<int> got(result.buffer);
    for (int i = 0; i < width; i++)
        REQUIRE((got(i) % 10 + 10) % 10 == 7);
}

}  // namespace

TEST_CASE("a product and a sum are rounded in an index as in its bounds", "[differential]") {
    Func g("g"), f("f");
    g(x) = x * 10 + 7;
    g.compute_root();
    SECTION("of constants") {
        f(x) = g(cast<int>(x * 0.9f + 0.3f));
        f.bound(x, 0, 4);
        Pipeline pipeline(f);
        check_inside(pipeline, 4);
    }
    SECTION("of Params") {
        Param<float> s("s"), t("t");
        f(x) = g(cast<int>(floor(x * s + t)));
        SECTION("one by one") {}
        SECTION("in vectors") {
            f.vectorize(x, 4);
        }
        Pipeline pipeline(f);
        std::mt19937 random(1);
        for (int i = 0; i < 400; i++) {
            // Ends near whole numbers.
            const int width = 4 + static_cast<int>(random() % 20);
            const float scale = static_cast<float>(random() % 1000 + 1) / 400.0f;
            s.set(scale);
            t.set(static_cast<float>(random() % 30) - static_cast<float>(width - 1) * scale);
            INFO(s.get() << " * x + " << t.get() << " to " << width);
            check_inside(pipeline, width);
        }
    }
}

// 3 * 0.9f + 0.3f is below 3 where the product is rounded first, and 3 where it is not.
TEST_CASE("the end of an image that a float reads up to", "[differential]") {
    ImageParam in(Int(32), 1, "in");
    Param<float> s("s", 0.9f), t("t", 0.3f);
    Func f("f");
    f(x) = in(cast<int>(x * s + t));
    testing::GuardedBuffer image(Int(32), {{0, 3}}, 0, false);
    Buffer<int> squares(image.buffer);
    for (int i = 0; i < 3; i++)
        squares(i) = i * i;
    in.set(squares);
    Buffer<int> out = f.realize({4});
    CHECK(out(3) == 4);
    require_message<RuntimeError>([&] { f.realize({5}); }, {"in", "0 to 3", "0 to 2"});
}

TEST_CASE("a weight belongs to the neighbors that it weights", "[differential]") {
    // Whether u is rounded once or twice, its whole part and its rest add up to one number.
    ImageParam in(Float(32), 1, "in");
    Param<float> s("s"), t("t");
    Func f("f");
    Expr u = x * s + t, left = cast<int>(floor(u)), weight = u - floor(u);
    f(x) = lerp(in(left), in(left + 1), weight);
    f.vectorize(x, 4);
    Buffer<float> ramp(200);
    ramp.set_min({-50});
    for (int i = -50; i < 150; i++)
        ramp(i) = static_cast<float>(i);
    in.set(ramp);
    std::mt19937 random(2);
    for (int i = 0; i < 100; i++) {
        const float scale = static_cast<float>(random() % 1000 + 1) / 400.0f;
        s.set(scale);
        t.set(static_cast<float>(random() % 30) - 12 * scale);
        Buffer<float> out = f.realize({32});
        for (int k = 0; k < 32; k++)
            REQUIRE(std::abs(out(k) - (static_cast<float>(k) * scale + t.get())) < 1e-4f);
    }
}

TEST_CASE("a distance of indices is an index", "[differential]") {
    Func g("g"), f("f");
    g(x) = x * x;
    g.compute_root();
    f(x, y) = g(cast<int>(absd(x, y)) + 1);
    check_against_reference<int>(f, {9, 7});
}
