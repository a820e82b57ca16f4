// What is memoized lies in memory of the host; kernels compute and read copies.

#include <atomic>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <pipe/pipe.h>

#include "test/support/gpu_targets.h"

using namespace Pipe;

namespace {

std::atomic<int> calls{0};

extern "C" int gpu_memoize_counted(int value) {
    calls++;
    return value;
}
HalideExtern_1(int, gpu_memoize_counted, int);

/// f, memoized, depends on a parameter; g reads two of its points.
struct Memoized {
    Var x{"x"}, xi{"xi"};
    Param<int> p{"p"};
    Func f{"f"}, g{"g"};

    explicit Memoized(bool counted) {
        const Expr value = p + x;
        f(x) = counted ? gpu_memoize_counted(value) : value;
        g(x) = f(x) * 2 + f(x + 1);
        f.compute_root().memoize();
    }

    void check(const Target &target, int parameter) {
        p.set(parameter);
        Buffer<int> result = g.realize({100}, target);
        result.copy_to_host();
        for (int i = 0; i < 100; i++)
            REQUIRE(result(i) == (parameter + i) * 2 + parameter + i + 1);
    }
};

}  // namespace

TEST_CASE("a kernel reads what the host computed and memoized", "[gpu]") {
    const Target target = GENERATE(from_range(test::gpu_targets()));
    Memoized m(true);
    m.g.gpu_tile(m.x, m.xi, 16);
    calls = 0;
    m.check(target, 1);
    const int once = calls;
    CHECK(once >= 101);
    m.check(target, 1);
    CHECK(calls == once);  // from the cache
    m.check(target, 5);
    CHECK(calls == 2 * once);
    m.check(target, 1);
    CHECK(calls == 2 * once);
}

TEST_CASE("a kernel computes what is memoized, for kernels and for the host", "[gpu]") {
    const Target target = GENERATE(from_range(test::gpu_targets()));
    for (bool read_by_kernel : {false, true}) {
        Memoized m(false);
        m.f.gpu_tile(m.x, m.xi, 32);
        if (read_by_kernel)
            m.g.gpu_tile(m.x, m.xi, 16);
        for (int parameter : {3, 3, 4, 3})
            m.check(target, parameter);
    }
}

TEST_CASE("memoized Tuples and the autoscheduler", "[gpu]") {
    const Target target = GENERATE(from_range(test::gpu_targets()));
    Var x("x"), y("y");
    Param<int> p("p");
    Func f("f"), g("g");
    f(x, y) = Tuple(x * y + p, cast<float>(x - y));
    g(x, y) = f(x, y)[0] * 2 + cast<int>(f(x + 1, y)[1]);
    f.compute_root().memoize();
    Pipeline pipeline(g);
    pipeline.autoschedule(target);
    for (int parameter : {3, 3, 4}) {
        p.set(parameter);
        Buffer<int> result(64, 48);
        pipeline.realize(result);
        result.copy_to_host();
        for (int j = 0; j < 48; j++)
            for (int i = 0; i < 64; i++)
                REQUIRE(result(i, j) == (i * j + parameter) * 2 + i + 1 - j);
    }
}
