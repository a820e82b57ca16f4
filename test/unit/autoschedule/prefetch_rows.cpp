// Rows that stream in from beyond the L2 cache are prefetched, in the stage that reads them first.
#include <functional>

#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

using namespace Pipe;

namespace {

Var x("x"), y("y");

int prefetches(const std::string &source) {
    int count = 0;
    for (size_t at = 0; (at = source.find(".prefetch(in, ", at)) != std::string::npos; at++)
        count++;
    return count;
}

/// Two stages, of which the first one is stored: they take turns row by row.
struct Turns {
    ImageParam in{Float(32), 2, "in"};
    Func f{"f"}, out{"out"};

    void define(const std::function<Expr(Expr, Expr)> &element) {
        Expr wide = 0.0f;
        for (int k = 0; k < 9; k++)
            wide += float(k + 1) * element(x + k % 3, y + k / 3);
        f(x, y) = wide;
        out(x, y) = f(x, y) * f(x + 1, y + 1) + f(x, y + 2);
    }
    /// The schedule for so many elements.
    std::string source(int width, int height) {
        Pipeline p(out);
        in.set_estimates({{0, width + 5}, {0, height + 5}});
        out.set_estimates({{0, width}, {0, height}});
        p.autoschedule(get_host_target());
        return p.schedule_source();
    }
};

}  // namespace

TEST_CASE_METHOD(Turns,
                 "of stages that take turns, the first one prefetches the row that comes next") {
    define([&](const Expr &x, const Expr &y) -> Expr { return in(x, y); });
    SECTION("of a large image") {
        const std::string text = source(4000, 4096);
        INFO(text);
        CHECK(prefetches(text) == 1);
        CHECK(text.find("1, PrefetchBoundStrategy::NonFaulting") != std::string::npos);
    }
    SECTION("not of one that stays in the L2 cache") {
        CHECK(prefetches(source(64, 64)) == 0);
    }
    SECTION("beyond the last row is nothing that is used") {
        Buffer<float> image(4008, 1505), got(4003, 1500), want(4003, 1500);
        image.fill([](int x, int y) { return float((x * 31 + y * 17) % 100); });
        in.set(image);
        out.realize(want);
        Pipeline p(out);
        p.autoschedule(get_host_target());
        p.realize(got);
        CHECK(prefetches(p.schedule_source()) == 1);
        int wrong = 0;
        got.for_each_element([&](const int *at) { wrong += got(at) != want(at); });
        CHECK(wrong == 0);
    }
}

TEST_CASE_METHOD(Turns, "what a later stage reads as well is prefetched once") {
    define([&](const Expr &x, const Expr &y) -> Expr { return in(x, y); });
    out = Func("out");
    out(x, y) = f(x, y) * f(x + 1, y + 1) + f(x, y + 2) + in(x, y);
    const std::string text = source(4000, 4096);
    INFO(text);
    CHECK(prefetches(text) == 1);
}

TEST_CASE_METHOD(Turns, "a stage that reads whole rows and never stops prefetches nothing") {
    out(x, y) = in(x, y) + in(x + 1, y + 1) + in(x, y + 2);
    CHECK(prefetches(source(4000, 4096)) == 0);
}

TEST_CASE_METHOD(Turns, "nothing is prefetched of what data, clamps or columns address") {
    SECTION("data") {
        define([&](const Expr &x, const Expr &y) -> Expr {
            return in(cast<int>(clamp(in(x, y), 0.0f, 100.0f)), y);
        });
    }
    SECTION("clamps") {
        define([&](const Expr &x, const Expr &y) -> Expr {
            return in(clamp(x, 0, 4000), clamp(y, 0, 4000));
        });
    }
    SECTION("columns") {
        define([&](const Expr &x, const Expr &y) -> Expr { return in(y, x); });
        Expr many = 0.0f;  // so that it is not f that is computed by columns
        for (int k = 0; k < 12; k++)
            many += float(k + 1) * f(x + k % 3, y + k / 3);
        out = Func("out");
        out(x, y) = many;
    }
    SECTION("the same row for all rows") {
        define([&](const Expr &x, const Expr &y) -> Expr { return in(x, 0) + y; });
    }
    CHECK(prefetches(source(4000, 4096)) == 0);
}

TEST_CASE_METHOD(Turns, "nor in loops of a user, nor of an interleaved image") {
    define([&](const Expr &x, const Expr &y) -> Expr { return in(x, y); });
    SECTION("loops of a user") {
        f.compute_root().vectorize(x, 8).parallel(y);
    }
    SECTION("interleaved") {
        in.dim(0).set_stride(3);
    }
    CHECK(prefetches(source(4000, 4096)) == 0);
}

TEST_CASE("rows of more planes than the processor follows are not prefetched") {
    auto source = [](int planes) {
        ImageParam in(Float(32), 3, "in");
        Func f("f"), out("out");
        Expr mixed = 0.0f;
        for (int c = 0; c < planes; c++)
            mixed += float(c + 1) * in(x, y, c);
        f(x, y) = sqrt(mixed);
        out(x, y) = f(x, y) * f(x + 1, y + 1) + f(x, y + 2);
        Pipeline p(out);
        in.set_estimates({{0, 4005}, {0, 4101}, {0, planes}});
        out.set_estimates({{0, 4000}, {0, 4096}});
        p.autoschedule(get_host_target());
        return p.schedule_source();
    };
    const std::string few = source(1), many = source(9);
    INFO(few << many);
    CHECK(prefetches(few) == 1);
    CHECK(prefetches(many) == 0);
}

TEST_CASE("an index that an inlined Func ignores is not prefetched") {
    ImageParam in(Int(32), 2, "in"), other(Int(32), 2, "other");
    Func ignores("ignores"), f("f"), out("out");
    Expr wide = 0;
    for (int k = 0; k < 9; k++)
        wide += (k + 1) * other(x + k % 3, y + k / 3);
    ignores(x, y) = x;
    f(x, y) = wide + ignores(x, clamp(in(x, y), 0, 3));
    out(x, y) = f(x, y) * f(x + 1, y + 1) + f(x, y + 2);
    for (ImageParam *image : {&in, &other})
        image->set_estimates({{0, 4005}, {0, 4100}});
    out.set_estimates({{0, 4000}, {0, 4096}});
    Pipeline p(out);
    p.autoschedule(get_host_target());
    const std::string source = p.schedule_source(), report = p.schedule_report();
    INFO(source << report);
    CHECK(report.find("no usable schedule") == std::string::npos);
    CHECK(source.find(".prefetch(other, ") != std::string::npos);
    CHECK(prefetches(source) == 0);
}

TEST_CASE_METHOD(Turns, "what is stored within the loops of its reader is not prefetched") {
    Func summed("summed");
    summed(x, y) = in(x, y);
    summed(x, y) += 1.0f;
    summed.compute_inline();  // impossible for an update: lowering finds its place
    define([&](const Expr &x, const Expr &y) -> Expr { return summed(x, y); });
    in.set_estimates({{0, 4005}, {0, 4101}});
    out.set_estimates({{0, 4000}, {0, 4096}});
    Pipeline p(out);
    p.autoschedule(get_host_target());
    const std::string report = p.schedule_report();
    INFO(report);
    CHECK(report.find("no usable schedule") == std::string::npos);
}
