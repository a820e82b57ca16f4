#include "lower/widen_floats.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "support/parse_ir.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

const Types types = {{"h", Float(16)}, {"b", BFloat(16)}, {"f", Float(32)},
                     {"d", Float(64)}, {"i", Int(16)},    {"mask", Bool(8)}};

std::string widened(const std::string &text) {
    return ir::to_string(lower::widen_floats(parse_stmt(text, types)));
}

void check_unchanged(const std::string &text) {
    INFO(text);
    CHECK(widened(text) == text);
}

}  // namespace

TEST_CASE("widen-floats: an operation is one of float32, rounded") {
    CHECK(widened("out[x] = h[x] + h[x + 1]\n") ==
          "out[x] = float16(float32(h[x]) + float32(h[x + 1]))\n");
    CHECK(widened("out[x] = max(b[x], b[y])\n") ==
          "out[x] = bfloat16(max(float32(b[x]), float32(b[y])))\n");
}

TEST_CASE("widen-floats: every operation is rounded, not only the last") {
    CHECK(widened("out[x] = h[x] * h[x] / h[y]\n") ==
          "out[x] = float16(float32(float16(float32(h[x]) * float32(h[x]))) / float32(h[y]))\n");
}

TEST_CASE("widen-floats: the result of a comparison is not a float") {
    CHECK(widened("if h[x] < h[y] {\n  out[x] = 1\n}\n") ==
          "if float32(h[x]) < float32(h[y]) {\n  out[x] = 1\n}\n");
}

TEST_CASE("widen-floats: abs and vectors") {
    CHECK(widened("out[x] = abs(h[x])\n") == "out[x] = float16(abs(float32(h[x])))\n");
    CHECK(widened("out[x] = absd(b[x], b[y])\n") ==
          "out[x] = bfloat16(absd(float32(b[x]), float32(b[y])))\n");
    CHECK(widened("out[ramp(x, 1, 8)] = ramp(h[x], h[y], 8)\n") ==
          "out[ramp(x, 1, 8)] = float16x8(ramp(float32(h[x]), float32(h[y]), 8))\n");
    CHECK(widened("out[ramp(x, 1, 8)] = h[ramp(x, 1, 8)] - broadcast(h[0], 8) if mask\n") ==
          "out[ramp(x, 1, 8)] = float16x8(float32x8(h[ramp(x, 1, 8)]) - "
          "float32x8(broadcast(h[0], 8))) if mask\n");
    CHECK(widened("out[x] = reduce<+>(h[ramp(x, 1, 8)], 1)\n") ==
          "out[x] = float16(reduce<+>(float32x8(h[ramp(x, 1, 8)]), 1))\n");
}

TEST_CASE("widen-floats: what moves values, and other types, stay") {
    check_unchanged("out[x] = h[x]\n");
    check_unchanged("out[x] = select(x < 3, h[x], h[y])\n");
    check_unchanged("out[ramp(x, 1, 8)] = broadcast(h[x], 8)\n");
    check_unchanged("out[x] = float32(h[x]) * f[x]\n");
    check_unchanged("out[x] = f[x] + f[y] * 2.0f\n");
    check_unchanged("out[x] = d[x] * d[y]\n");
    check_unchanged("out[x] = i[x] * i[y]\n");
    check_unchanged("out[x] = abs(i[x])\n");
    check_unchanged("out[x] = likely(h[x])\n");
    check_unchanged("out[x] = reinterpret<int16>(h[x])\n");
    check_unchanged("let t = h[x]\nout[x] = t\n");
}
