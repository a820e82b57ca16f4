// What a pipeline is made of goes away with the user's handles, also after it was compiled.
#include <functional>
#include <memory>

#include <catch2/catch_test_macros.hpp>

#include "language/contents.h"
#include <pipe/pipe.h>

using namespace Pipe;

namespace {

using Alive = std::weak_ptr<const language::FuncContents>;

Var x("x");

/// Makes, realizes and forgets pipelines of f; whether something still holds f.
bool outlives(const std::function<void(Func &f)> &use) {
    Alive alive;
    {
        Func f("f");
        use(f);
        alive = f.contents();
    }
    return !alive.expired();
}

}  // namespace

TEST_CASE("a Func that was compiled goes away", "[driver][lifetime]") {
    CHECK_FALSE(outlives([](Func &f) {
        f(x) = x;
        f.realize({4});
    }));
    CHECK_FALSE(outlives([](Func &f) {
        f(x) = x;
        Pipeline p(f);
        p.autoschedule(get_host_target()).realize({4});
    }));
    CHECK_FALSE(outlives([](Func &f) {
        f(x) = Tuple(x, 2 * x);
        f(x) = Tuple(f(x)[1], f(x)[0]);
        f.realize({4});
        f.compile_to_callable({});
        f.infer_input_bounds({4});
    }));
}

TEST_CASE("a Func that is part of a pipeline goes away", "[driver][lifetime]") {
    CHECK_FALSE(outlives([](Func &f) {
        Func g("g"), h("h");
        LoopLevel level;
        f(x) = x;
        g(x) = f(x) + f(x + 1);
        h(x) = g(x) + f(x);
        f.in(g).compute_at(level);
        level.set(LoopLevel(h, x));
        f.clone_in(h).compute_at(h, x);
        g.compute_at(h, x);
        h.realize({4});
    }));
    CHECK_FALSE(outlives([](Func &f) {
        Func g("g");
        Param<int> p("p", 0);
        RDom r(0, 4);
        Var u("u");
        f(x) = 0;
        f(x) += r * p;
        f.update().rfactor(r, u).compute_root();
        g(x) = f(x) + sum(r + x);
        f.compute_root().specialize(p > 3).vectorize(x, 4);
        g.prefetch(f, x, x, 1);
        g.realize({16});
    }));
    CHECK_FALSE(outlives([](Func &f) {
        ImageParam in(Int(32), 1, "in");
        f(x) = in(x);
        in.in(f).compute_root();
        Buffer<int> image(4);
        image.fill(1);
        in.set(image);
        f.realize({4});
    }));
}

TEST_CASE("an image that says one of its sizes by another goes away", "[driver][lifetime]") {
    std::weak_ptr<const language::ImageContents> alive;
    {
        ImageParam in(Int(32), 2, "in");
        Var y("y");
        Func f("f");
        in.dim(1).set_stride(in.dim(0).extent() + 1).set_extent(in.dim(0).extent());
        f(x, y) = in(x, y);
        f.output_buffer().dim(1).set_extent(f.output_buffer().dim(0).extent());
        Buffer<int> image(5, 4);
        image.fill(3);
        in.set(image.cropped(0, 0, 4));
        CHECK(Buffer<int>(f.realize({4, 4})).all_equal(3));
        CHECK_THROWS_AS(f.realize({4, 3}), RuntimeError);
        in.set(image);
        CHECK_THROWS_AS(f.realize({4, 4}), RuntimeError);
        alive = in.contents();
    }
    CHECK(alive.expired());
}
