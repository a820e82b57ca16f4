#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "graph/schedule_source.h"
#include "language/freeze.h"

using namespace Pipe;

namespace {

struct Blur {
    Var x{"x"}, y{"y"};
    Func bx{"bx"}, by{"by"};
    Blur() {
        bx(x, y) = x + y;
        by(x, y) = bx(x, y) + bx(x, y + 1);
    }
    std::string source() const {
        language::Frozen f = language::freeze({by});
        return graph::schedule_source(f.graph, f.schedule);
    }
};

}  // namespace

TEST_CASE("a schedule as C++", "[schedule_source]") {
    Blur b;
    Var yo("yo"), yi("yi"), x_lane("x_lane");
    b.by.split(b.y, yo, yi, 32).parallel(yo).vectorize(b.x, 8);
    b.bx.store_at(b.by, yo).compute_at(b.by, yi).unroll(b.x);
    CHECK(b.source() == "{\n"
                        "const auto bx_x = bx.args()[0];\n"
                        "const auto by_x = by.args()[0];\n"
                        "const auto by_y = by.args()[1];\n"
                        "Var x_lane(\"x_lane\");\n"
                        "Var yi(\"yi\");\n"
                        "Var yo(\"yo\");\n"
                        "by\n"
                        "    .split(by_y, yo, yi, 32)\n"
                        "    .split(by_x, by_x, x_lane, 8)\n"
                        "    .reorder(x_lane, by_x, yi, yo)\n"
                        "    .vectorize(x_lane)\n"
                        "    .parallel(yo);\n"
                        "bx\n"
                        "    .unroll(bx_x);\n"
                        "bx\n"
                        "    .compute_at(by, yi)\n"
                        "    .store_at(by, yo);\n"
                        "}\n");
}

TEST_CASE("the text pasted gives the same schedule", "[schedule_source]") {
    Blur first, second;
    Var yo("yo"), yi("yi");
    first.by.split(first.y, yo, yi, 32).parallel(yo).vectorize(first.x, 8);
    first.bx.store_at(first.by, yo)
        .compute_at(first.by, yi)
        .vectorize(first.x, 4, TailStrategy::GuardWithIf);
    Func &bx = second.bx, &by = second.by;
    {  // first.source()
        const auto bx_x = bx.args()[0];
        const auto bx_y = bx.args()[1];
        const auto by_x = by.args()[0];
        const auto by_y = by.args()[1];
        Var x_lane("x_lane");
        Var yi("yi");
        Var yo("yo");
        by.split(by_y, yo, yi, 32)
            .split(by_x, by_x, x_lane, 8)
            .reorder(x_lane, by_x, yi, yo)
            .vectorize(x_lane)
            .parallel(yo);
        bx.split(bx_x, bx_x, x_lane, 4, TailStrategy::GuardWithIf)
            .reorder(x_lane, bx_x, bx_y)
            .vectorize(x_lane);
        bx.compute_at(by, yi).store_at(by, yo);
    }
    CHECK(first.source() == second.source());
}

TEST_CASE("sizes and Params in C++", "[schedule_source]") {
    Var x("x");
    ImageParam in(UInt(8), 1, "in");
    Param<int> n("n");
    Func f("f");
    f(x) = in(x);
    Var xo("xo"), xi("xi");
    f.bound(x, 0, in.width()).split(x, xo, xi, n * 2);
    language::Frozen frozen = language::freeze({f});
    std::string source = graph::schedule_source(frozen.graph, frozen.schedule);
    CHECK(source.find(".bound(f_x, 0, in.dim(0).extent())") != std::string::npos);
    CHECK(source.find(".split(f_x, xo, xi, n * 2)") != std::string::npos);
}

TEST_CASE("a specialization without directives of its own", "[schedule_source]") {
    Blur b;
    Param<int> n("n");
    b.by.parallel(b.y);
    b.by.specialize(n > 1);
    b.by.specialize(n > 2).vectorize(b.x);
    const std::string source = b.source();
    CHECK(source.find("Stage by_special0 = by.specialize(n > 1);\n"
                      "by_special0\n"
                      "    .parallel(by_y);\n"
                      "Stage by_special1 = by.specialize(n > 2);\n") != std::string::npos);
    // It would be refused: the definition has directives.
    CHECK(source.find("unscheduled") == std::string::npos);
    Blur none;
    none.by.specialize(n > 1);
    CHECK(none.source().find("unscheduled") == std::string::npos);
}

TEST_CASE("a specialization for the size of the output", "[schedule_source]") {
    Blur b;
    b.by.specialize(b.by.output_buffer().dim(1).min() == 0).vectorize(b.x, 8);
    const std::string source = b.source();
    INFO(source);
    CHECK(source.find("by.specialize(by.output_buffers()[0].dim(1).min() == 0)") !=
          std::string::npos);
}
