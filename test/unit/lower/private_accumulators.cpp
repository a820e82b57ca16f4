#include "lower/private_accumulators.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "ir/print.h"
#include "language/freeze.h"
#include "lower/lower.h"
#include "poly/races.h"

using namespace Pipe;

namespace {

/// The loops right after they are built, without the checks of arguments.
std::string built(const Func &output) {
    const language::Frozen frozen = language::freeze({output});
    lower::LowerOptions options;
    options.stop_after = "build";
    options.shared_loops = poly::check_races(frozen.graph, frozen.schedule, {});
    const Target target("x86-64-linux-avx2");
    const std::string text =
        ir::to_string(lower::lower(frozen.graph, frozen.schedule, target, options).body);
    std::string kept;
    for (size_t at = 0; at < text.size();) {
        const size_t end = text.find('\n', at) + 1;
        const std::string line = text.substr(at, end - at);
        if (line.find("assert ") == std::string::npos)
            kept += line;
        at = end;
    }
    return kept;
}

}  // namespace

TEST_CASE("private accumulators: a parallel sum") {
    Func f("par_sum");
    RDom r(0, 640, "r");
    f() = 0;
    f() += cast<int>(r);
    f.update().parallel(r);
    CHECK(built(f) == "realize par_sum_parts([0, 64)) of int32 {\n"
                      "  produce par_sum_parts {\n"
                      "    for par_sum_parts.s0.r$x_part in [0, 64) {\n"
                      "      par_sum_parts(par_sum_parts.s0.r$x_part) = 0\n"
                      "    }\n"
                      "    for par_sum_parts.s1.r$x_part in [0, 64) parallel {\n"
                      "      for par_sum_parts.s1.r$x_each in [0, 10) {\n"
                      "        par_sum_parts(par_sum_parts.s1.r$x_part) = "
                      "par_sum_parts(par_sum_parts.s1.r$x_part) + (par_sum_parts.s1.r$x_part * 10 "
                      "+ par_sum_parts.s1.r$x_each)\n"
                      "      }\n"
                      "    }\n"
                      "  }\n"
                      "  produce par_sum {\n"
                      "    par_sum() = 0\n"
                      "    for par_sum.s1.r$x in [0, 64) {\n"
                      "      par_sum() = par_sum() + par_sum_parts(par_sum.s1.r$x)\n"
                      "    }\n"
                      "  }\n"
                      "}\n");
}

TEST_CASE("private accumulators: a vectorized sum, whose lanes are combined at once") {
    Func f("vec_sum");
    RDom r(0, 64, "r");
    f() = 0;
    f() += cast<int>(r);
    f.update().vectorize(r, 8);
    CHECK(built(f) == "realize vec_sum_parts([0, 8)) of int32 {\n"
                      "  produce vec_sum_parts {\n"
                      "    allocate vec_sum_parts.s1.sums[int32 * 8] {\n"
                      "      for vec_sum_parts.s1.r$x_lane_part in [0, 8) vectorized {\n"
                      "        vec_sum_parts.s1.sums[vec_sum_parts.s1.r$x_lane_part] = 0\n"
                      "      }\n"
                      "      for vec_sum_parts.s1.r$x in [0, 8) {\n"
                      "        for vec_sum_parts.s1.r$x_lane_part in [0, 8) vectorized {\n"
                      "          vec_sum_parts.s1.sums[vec_sum_parts.s1.r$x_lane_part] = "
                      "vec_sum_parts.s1.sums[vec_sum_parts.s1.r$x_lane_part] + "
                      "(vec_sum_parts.s1.r$x * 8 + vec_sum_parts.s1.r$x_lane_part)\n"
                      "        }\n"
                      "      }\n"
                      "      for vec_sum_parts.s1.r$x_lane_part in [0, 8) vectorized {\n"
                      "        vec_sum_parts(vec_sum_parts.s1.r$x_lane_part) = "
                      "vec_sum_parts.s1.sums[vec_sum_parts.s1.r$x_lane_part]\n"
                      "      }\n"
                      "    }\n"
                      "  }\n"
                      "  produce vec_sum {\n"
                      "    vec_sum() = 0\n"
                      "    for vec_sum.s1.r$x_lane in [0, 8) vectorized {\n"
                      "      vec_sum() = vec_sum() + vec_sum_parts(vec_sum.s1.r$x_lane)\n"
                      "    }\n"
                      "  }\n"
                      "}\n");
}

TEST_CASE("private accumulators: none where the iterations share no element") {
    Func f("rows_sum");
    Var x("x");
    RDom r(0, 64, "r");
    f(x) = 0;
    f(x) += cast<int>(r);
    f.update().parallel(x);
    CHECK(built(f).find("_parts") == std::string::npos);
}

TEST_CASE("private accumulators: lanes of a Tuple are combined in halves") {
    ImageParam in(Int(32), 1, "in");
    Func best("best");
    RDom r(0, 64, "r");
    best() = {0, -1};
    best() = {select(best()[1] < in(r), r, best()[0]), max(best()[1], in(r))};
    best.update().vectorize(r, 8);
    const std::string text = built(best);
    INFO(text);
    for (int half : {4, 2, 1})
        CHECK(text.find("r$x_lane_half in [0, " + std::to_string(half) + ")") != std::string::npos);
    CHECK(text.find("for best.s1.r$x_lane in [0, 1)") != std::string::npos);
}

TEST_CASE("the first of the largest values is found by vectors", "[argmax]") {
    ImageParam in(Int(32), 2, "in");
    Var y("y");
    for (int lanes : {2, 3, 6, 8, 12, 16, 32}) {
        RDom r(0, 101, "r");
        Func best("best");
        best(y) = {-1, -1};
        best(y) = {select(best(y)[1] < in(r, y), r, best(y)[0]), max(best(y)[1], in(r, y))};
        best.update().vectorize(r, lanes);
        Buffer<int> image(101, 20);
        image.fill([](int x, int y) { return (x * 37 + y * 11) % 19; });
        in.set(image);
        const Realization found = best.realize({20});
        const Buffer<int> where = found[0], value = found[1];
        for (int j = 0; j < 20; j++) {
            int first = 0;
            for (int i = 1; i < 101; i++)
                first = image(i, j) > image(first, j) ? i : first;
            INFO(lanes << " lanes, row " << j);
            REQUIRE(value(j) == image(first, j));
            REQUIRE(where(j) == first);
        }
    }
}
