// Short reductions become expressions where that is faster.
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "language/freeze.h"
#include "test/unit/autoschedule/pipelines.h"

using namespace Pipe;

namespace {

const Var x("x"), y("y");

/// A box blur of width and height n, by sum().
struct Box {
    ImageParam in{Float(32), 2, "in"};
    Func across{"across"}, down{"down"};

    explicit Box(const Expr &n) {
        const RDom r(0, n, "r");
        across(x, y) = sum(in(x + r, y), "sum_x");
        down(x, y) = sum(across(x, y + r), "sum_y");
    }
};

autoschedule::Result scheduled(const Func &f, AutoscheduleOptions options = {}) {
    const language::Frozen frozen = language::freeze({f});
    const test::ScheduleSizes sizes{{{{0, 2048}, {0, 1024}}}, {}, {}};
    return autoschedule::schedule(frozen.graph, frozen.schedule, sizes, test::two_cores(), options);
}

}  // namespace

TEST_CASE("sums of three values are expressions", "[autoschedule]") {
    const Box box(3);
    const autoschedule::Result result = scheduled(box.down);
    CHECK(result.report.unrolled == std::vector<std::string>{"sum_x", "sum_y"});
    CHECK(std::count(result.report.inlined.begin(), result.report.inlined.end(), "sum_x") == 1);
    CHECK(result.report.text.find("updates unrolled: sum_x, sum_y") != std::string::npos);
    for (const graph::FuncNode &f : result.graph.funcs)
        CHECK_FALSE(f.has_updates());
}

TEST_CASE("sums are as fast as the expression that they stand for", "[autoschedule]") {
    const Box box(3);
    ImageParam in(Float(32), 2, "in");
    Func across("across"), down("down");
    across(x, y) = in(x, y) + in(x + 1, y) + in(x + 2, y);
    down(x, y) = across(x, y) + across(x, y + 1) + across(x, y + 2);
    CHECK(scheduled(box.down).report.cost <= 1.1 * scheduled(down).report.cost);
}

TEST_CASE("what stays a reduction", "[autoschedule]") {
    SECTION("a long one") {
        CHECK(scheduled(Box(33).down).report.unrolled.empty());
    }
    SECTION("one whose length is not known") {
        CHECK(scheduled(Box(Param<int>("n")).down).report.unrolled.empty());
    }
    SECTION("one with directives") {
        const RDom r(0, 3, "r");
        ImageParam in(Float(32), 2, "in");
        Func f("f"), g("g");
        f(x, y) = 0.0f;
        f(x, y) += in(x + r, y);
        g(x, y) = f(x, y) * 2;
        f.compute_root().update().unroll(r);
        CHECK(scheduled(g).report.unrolled.empty());
    }
    SECTION("one in whose loops something is computed") {
        const RDom r(0, 3, "r");
        ImageParam in(Float(32), 2, "in");
        Func p("p"), f("f");
        p(x, y) = in(x, y) * in(x, y);
        f(x, y) = 0.0f;
        f(x, y) += p(x + r, y);
        p.compute_at(f, r);
        CHECK(scheduled(f).report.unrolled.empty());
    }
    SECTION("one that would have to be inlined then, since the user placed what it reads") {
        // PIPE_FUZZ_SEED=72 of test_fuzz_gpu
        const RDom r(0, 3, "r");
        ImageParam in(Float(32), 2, "in");
        Func p("p"), f("f"), g("g");
        p(x, y) = in(x, y) * in(x, y);
        f(x, y) = sum(p(x + r, y), "window");
        g(x, y) = in(x, y);
        p.compute_at(g, x);  // which does not read it
        const language::Frozen frozen = language::freeze({f, g});
        const autoschedule::Result result =
            autoschedule::schedule(frozen.graph, frozen.schedule, {}, test::two_cores());
        CHECK(result.report.unrolled.empty());
    }
    SECTION("under a published strategy") {
        AutoscheduleOptions options;
        options.strategy = AutoscheduleOptions::Strategy::DPFusion;
        CHECK(scheduled(Box(3).down, options).report.unrolled.empty());
    }
}

TEST_CASE("only some of the reductions of a pipeline are unrolled", "[autoschedule]") {
    // What is resampled stays in blocks by phases.
    ImageParam in(Float(32), 2, "in"), weights(Float(32), 2, "weights");
    const RDom k(0, 6, "k"), r(0, 3, "r");
    Func resampled("resampled"), out("out");
    resampled(x, y) = 0.0f;
    resampled(x, y) += weights(k, x % 3) * in(x * 2 / 3 + k, y);
    out(x, y) = sum(resampled(x, y + r), "window");
    CHECK(scheduled(out).report.unrolled == std::vector<std::string>{"window"});
}

TEST_CASE("an unrolled sum computes the same", "[autoschedule]") {
    Box box(3);
    Buffer<float> image(130, 70), result(128, 68);
    image.fill([](int i, int j) { return float((i * 7 + j * 5) % 32); });
    box.in.set(image);
    Pipeline p(box.down);
    p.autoschedule(get_host_target());
    p.realize(result);
    CHECK(p.schedule_source().find(".unroll_updates()") != std::string::npos);
    result.for_each_element([&](int i, int j) {
        float expected = 0;
        for (int b = 0; b < 3; b++)
            for (int a = 0; a < 3; a++)
                expected += image(i + a, j + b);
        REQUIRE(result(i, j) == expected);
    });
}
