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
