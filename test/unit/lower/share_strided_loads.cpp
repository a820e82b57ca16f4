#include "lower/share_strided_loads.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "support/parse_ir.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

const Types types = {
    {"stride", Int(32)}, {"mask", Bool(4)}, {"place", Int(32, 4)}, {"other", Int(32, 4)}};

std::string shared(const std::string &text) {
    return ir::to_string(lower::share_strided_loads(parse_stmt(text, types)));
}

void check_unchanged(const std::string &text) {
    INFO(text);
    CHECK(shared(text) == text);
}

}  // namespace

TEST_CASE("share-loads: strided loads of neighbors share a dense one, up to the last element") {
    CHECK(shared("out[ramp(0, 1, 4)] = in[ramp(x, 3, 4)] + in[ramp(x + 2, 3, 4)]\n") ==
          "let in.span0 = in[ramp(x, 1, 12)]\n"
          "out[ramp(0, 1, 4)] = slice(in.span0, 0, 3, 4) + slice(in.span0, 2, 3, 4)\n");
}

TEST_CASE("share-loads: statements that follow each other share their loads") {
    CHECK(shared("out[ramp(0, 1, 4)] = in[ramp(x, 3, 4)]\n"
                 "out[ramp(4, 1, 4)] = in[ramp(x + 1, 3, 4)]\n") ==
          "let in.span0 = in[ramp(x, 1, 11)]\n"
          "out[ramp(0, 1, 4)] = slice(in.span0, 0, 3, 4)\n"
          "out[ramp(4, 1, 4)] = slice(in.span0, 1, 3, 4)\n");
}

TEST_CASE("share-loads: columns that are neighbors are rows, transposed") {
    CHECK(shared("out[ramp(0, 1, 2)] = in[ramp(x, stride, 2)]\n"
                 "out[ramp(2, 1, 2)] = in[ramp(x + 1, stride, 2)]\n"
                 "out[ramp(4, 1, 2)] = in[ramp(x + 2, stride, 2)]\n"
                 "out[ramp(6, 1, 2)] = in[ramp(x + 3, stride, 2)]\n") ==
          "let in.columns0 = interleave(in[ramp(x, 1, 4)], in[ramp(stride + x, 1, 4)], 8)\n"
          "out[ramp(0, 1, 2)] = slice(in.columns0, 0, 1, 2)\n"
          "out[ramp(2, 1, 2)] = slice(in.columns0, 2, 1, 2)\n"
          "out[ramp(4, 1, 2)] = slice(in.columns0, 4, 1, 2)\n"
          "out[ramp(6, 1, 2)] = slice(in.columns0, 6, 1, 2)\n");
}

TEST_CASE("share-loads: neighbors at any places are pairs") {
    CHECK(shared("out[ramp(0, 1, 4)] = in[place] + in[place + broadcast(1, 4)]\n") ==
          "let in.pairs0 = in[interleave(place, place + broadcast(1, 4), 8)]\n"
          "out[ramp(0, 1, 4)] = slice(in.pairs0, 0, 2, 4) + slice(in.pairs0, 1, 2, 4)\n");
    // Two pairs of four; the places of others are not known.
    const std::string four = shared(
        "out[ramp(0, 1, 4)] = in[place + broadcast(x, 4)] + in[place + broadcast(x + 3, 4)] + "
        "in[place + broadcast(x + 1, 4)] + in[place + broadcast(x + 2, 4)]\n");
    CHECK(four.find("slice(in.pairs0, 0, 2, 4) + slice(in.pairs1, 1, 2, 4) + "
                    "slice(in.pairs0, 1, 2, 4) + slice(in.pairs1, 0, 2, 4)") != std::string::npos);
    check_unchanged("out[ramp(0, 1, 4)] = in[place] + in[place + broadcast(2, 4)]\n");
    check_unchanged("out[ramp(0, 1, 4)] = in[place] + g[place + broadcast(1, 4)]\n");
    check_unchanged("out[ramp(0, 1, 4)] = in[place] + in[other]\n");
    check_unchanged("out[ramp(0, 1, 4)] = in[place] if mask\n");
}

TEST_CASE("share-loads: what a statement stores to, it loads before") {
    // Of two statements, the second needs what the first one stored.
    CHECK(shared("out[ramp(0, 2, 4)] = out[ramp(x, 2, 4)] + out[ramp(x + 1, 2, 4)]\n") ==
          "let out.span0 = out[ramp(x, 1, 8)]\n"
          "out[ramp(0, 2, 4)] = slice(out.span0, 0, 2, 4) + slice(out.span0, 1, 2, 4)\n");
    check_unchanged("out[ramp(0, 1, 4)] = out[ramp(x, 2, 4)]\n"
                    "out[ramp(4, 1, 4)] = out[ramp(x + 1, 2, 4)]\n");
}

TEST_CASE("share-loads: a load stays where few of its neighbors are loaded") {
    check_unchanged("out[ramp(0, 1, 4)] = in[ramp(x, 3, 4)]\n");
    check_unchanged("out[ramp(0, 1, 4)] = in[ramp(x, 3, 4)] + in[ramp(x + 3, 3, 4)]\n");
    check_unchanged("out[ramp(0, 1, 4)] = in[ramp(x, 3, 4)] + g[ramp(x + 1, 3, 4)]\n");
    check_unchanged("out[ramp(0, 1, 4)] = in[ramp(x, 3, 4)] + in[ramp(y, 3, 4)]\n");
    // Half of the span is what pays: two of four elements, but not two of six.
    check_unchanged("out[ramp(0, 1, 4)] = in[ramp(x, 6, 4)] + in[ramp(x + 1, 6, 4)]\n");
    CHECK(shared("out[ramp(0, 1, 4)] = in[ramp(x, 4, 4)] + in[ramp(x + 1, 4, 4)]\n")
              .starts_with("let in.span0 = in[ramp(x, 1, 14)]\n"));
    // Columns: four.
    check_unchanged("out[ramp(0, 1, 2)] = in[ramp(x, stride, 2)]\n"
                    "out[ramp(2, 1, 2)] = in[ramp(x + 1, stride, 2)]\n"
                    "out[ramp(4, 1, 2)] = in[ramp(x + 2, stride, 2)]\n");
}

TEST_CASE("share-loads: a load stays that is not always done") {
    check_unchanged("if x < n {\n"
                    "  out[ramp(0, 1, 4)] = in[ramp(x, 3, 4)]\n"
                    "}\n"
                    "out[ramp(4, 1, 4)] = in[ramp(x + 1, 3, 4)]\n");
    check_unchanged("out[ramp(0, 1, 4)] = in[ramp(x, 3, 4)] if broadcast(x < n, 4)\n"
                    "out[ramp(4, 1, 4)] = in[ramp(x + 1, 3, 4)]\n");
    check_unchanged(
        "out[ramp(0, 1, 4)] = if_then_else(x < n, in[ramp(x, 3, 4)] + in[ramp(x + 1, 3, "
        "4)], broadcast(0, 4))\n");
    check_unchanged("out[ramp(0, 1, 4)] = in[ramp(x, 3, 4) if mask] + in[ramp(x + 1, 3, 4)]\n");
}

TEST_CASE("share-loads: a load stays behind the variable that it needs") {
    check_unchanged("let y = x + 1\n"
                    "out[ramp(0, 1, 4)] = in[ramp(y, 3, 4)]\n"
                    "out[ramp(4, 1, 4)] = in[ramp(y + 1, 3, 4)]\n");
}
