#include "lower/prefix_loops.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "support/parse_ir.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

const Types types = {{"f32", Float(32)}, {"f64", Float(64)}, {"i64", Int(64)}, {"flag", Bool()}};

/// Vectors of 8 int32.
std::string prefixed(const std::string &text, const char *target = "x86-64-linux-avx2") {
    return ir::to_string(lower::prefix_loops(parse_stmt(text, types), Target(target)));
}

void check_unchanged(const std::string &text, const char *target = "x86-64-linux-avx2") {
    INFO(text);
    CHECK(prefixed(text, target) == text);
}

}  // namespace

TEST_CASE("prefixes: a loop of running sums computes whole vectors, and the rest as before") {
    CHECK(prefixed("for r in [1, 1 + n) {\n  f[r] = f[r - 1] + in[r]\n}\n") ==
          R"(if 8 <= max(n, 0) {
  allocate r.carry[int32 * 1] {
    r.carry[0] = f[0]
    for r.block in [0, max(n, 0) / 8) {
      let r.prefix = prefix_sum(in[ramp(r.block * 8 + 1, 1, 8)])
      f[ramp(r.block * 8 + 1, 1, 8)] = r.prefix + broadcast(r.carry[0], 8)
      r.carry[0] = r.carry[0] + slice(r.prefix, 7, 1, 1)
    }
  }
}
for r in [max(n, 0) / 8 * 8 + 1, max(n, 0) / 8 * 8 + 1 + (n - max(n, 0) / 8 * 8)) remainder {
  f[r] = f[r - 1] + in[r]
}
)");
}

TEST_CASE("prefixes: minima, and sums that run backwards") {
    const std::string least = prefixed("for r in [1, 33) {\n  f[r] = min(in[r], f[r - 1])\n}\n");
    INFO(least);
    CHECK(least.find("let r.prefix = prefix_min(in[ramp(") != std::string::npos);
    CHECK(least.find("= min(r.prefix, broadcast(r.carry[0], 8))") != std::string::npos);
    const std::string backwards =
        prefixed("for r in [0, 32) {\n  f[40 - r] = f[41 - r] + in[r]\n}\n");
    INFO(backwards);
    CHECK(backwards.find("r.carry[0] = f[41]") != std::string::npos);
    CHECK(backwards.find("-1, 8)] = r.prefix + ") != std::string::npos);
}

TEST_CASE("prefixes: the element that is stored may be read, too") {
    const std::string text =
        prefixed("for r in [1, 33) {\n  f[r] = f[r - 1] + (f[r] + in[r])\n}\n");
    INFO(text);
    CHECK(
        text.find("prefix_sum(f[ramp(r.block * 8 + 1, 1, 8)] + in[ramp(r.block * 8 + 1, 1, 8)])") !=
        std::string::npos);
}

TEST_CASE("prefixes: floats only where their order may change") {
    const std::string sums = "for r in [1, 33) {\n  f32[r] = f32[r - 1] + float32(in[r])\n}\n";
    check_unchanged(sums);
    CHECK(prefixed(sums, "x86-64-linux-avx2-fast_math").find("prefix_sum") != std::string::npos);
    // Integers wrap around in any order.
    CHECK(prefixed("for r in [1, 33) {\n  f[r] = f[r - 1] + in[r]\n}\n").find("prefix_sum") !=
          std::string::npos);
}

TEST_CASE("prefixes: types with few lanes, and loops shorter than a vector, stay") {
    check_unchanged("for r in [1, 33) {\n  i64[r] = i64[r - 1] + int64(r)\n}\n");
    check_unchanged("for r in [1, 8) {\n  f[r] = f[r - 1] + in[r]\n}\n");
    check_unchanged("for r in [1, 33) {\n  f[r] = f[r - 1] + in[r]\n}\n", "x86-64-linux-sse41");
}

TEST_CASE("prefixes: a loop stays that reads other elements than the one before") {
    check_unchanged("for r in [2, 34) {\n  f[r] = f[r - 2] + in[r]\n}\n");
    check_unchanged("for r in [2, 34) {\n  f[r] = f[r - 1] + f[r - 2]\n}\n");
    check_unchanged("for r in [1, 33) {\n  f[r] = f[r + 1] + in[r]\n}\n");
    check_unchanged("for r in [1, 33) {\n  f[r] = f[r - 1] + f[in[r]]\n}\n");
    check_unchanged("for r in [1, 33) {\n  f[r * 2] = f[r * 2 - 2] + in[r]\n}\n");
    check_unchanged("for r in [1, 33) {\n  f[r] = f[r - 1] + f[r - 1]\n}\n");
}

TEST_CASE("prefixes: a loop stays of which another operation, or order, is wanted") {
    check_unchanged("for r in [1, 33) {\n  f[r] = f[r - 1] * in[r]\n}\n");
    check_unchanged("for r in [1, 33) {\n  f[r] = (f[r - 1] + in[r]) / 2\n}\n");
    check_unchanged("for r in [1, 33) {\n  f[r] = f[r - 1] + in[r] if in[r] < 3\n}\n");
    check_unchanged("for r in [1, 33) {\n  atomic f[r] = f[r - 1] + in[r]\n}\n");
    check_unchanged("for r in [1, 33) unrolled {\n  f[r] = f[r - 1] + in[r]\n}\n");
    check_unchanged("for r in [1, 33) {\n  f[r] = f[r - 1] + print(\"r\", in[r])\n}\n");
    check_unchanged("for r in [1, 33) {\n  f[r] = f[r - 1] + in[r]\n  g[r] = 1\n}\n");
    check_unchanged("for b in [0, 8) gpu_block {\n"
                    "  for r in [1, 33) {\n"
                    "    f[r] = f[r - 1] + in[r]\n"
                    "  }\n"
                    "}\n");
}
