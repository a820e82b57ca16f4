#include "lower/hoist_calls.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "support/parse_ir.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

/// slow(p)[1] is a call of the user's C function slow.
std::string hoisted(const std::string &text) {
    return ir::to_string(lower::hoist_calls(parse_stmt(text)));
}

void check_unchanged(const std::string &text) {
    INFO(text);
    CHECK(hoisted(text) == text);
}

}  // namespace

TEST_CASE("hoist-calls: a call whose arguments do not change in a loop is computed before it") {
    CHECK(hoisted(R"(for x in [0, 8) {
  g[x] = slow(p)[1] * x
}
)") == R"(let hoisted.slow.0 = slow(p)[1]
for x in [0, 8) {
  g[x] = hoisted.slow.0 * x
}
)");
}

TEST_CASE("hoist-calls: equal calls of a loop are computed once, different ones each") {
    CHECK(hoisted(R"(for x in [0, 8) {
  g[x] = slow(p)[1] + slow(q)[1]
  h[x] = slow(p)[1]
}
)") == R"(let hoisted.slow.0 = slow(p)[1]
let hoisted.slow.1 = slow(q)[1]
for x in [0, 8) {
  g[x] = hoisted.slow.0 + hoisted.slow.1
  h[x] = hoisted.slow.0
}
)");
}

TEST_CASE("hoist-calls: a loop that may be empty makes no call then") {
    CHECK(hoisted(R"(for x in [0, w) {
  g[x] = slow(p)[1]
}
)") == R"(let hoisted.slow.0 = if_then_else(w > 0, slow(p)[1], 0)
for x in [0, w) {
  g[x] = hoisted.slow.0
}
)");
}

TEST_CASE("hoist-calls: a call leaves all loops in which its arguments do not change") {
    CHECK(hoisted(R"(for y in [0, h) {
  for x in [0, w) {
    g[x] = slow(p)[1]
  }
}
)") == R"(let hoisted.slow.1 = if_then_else(h > 0 && w > 0, slow(p)[1], 0)
for y in [0, h) {
  let hoisted.slow.0 = hoisted.slow.1
  for x in [0, w) {
    g[x] = hoisted.slow.0
  }
}
)");
    CHECK(hoisted(R"(for y in [0, 4) {
  for x in [0, 8) {
    g[x] = slow(y)[1] + slow(p)[1]
  }
}
)") == R"(let hoisted.slow.2 = slow(p)[1]
for y in [0, 4) {
  let hoisted.slow.0 = slow(y)[1]
  let hoisted.slow.1 = hoisted.slow.2
  for x in [0, 8) {
    g[x] = hoisted.slow.0 + hoisted.slow.1
  }
}
)");
}

TEST_CASE("hoist-calls: the guard is dropped where it is not known before the outer loop") {
    CHECK(hoisted(R"(for y in [0, 4) {
  for x in [0, n[y]) {
    g[x] = slow(p)[1]
  }
}
)") == R"(let hoisted.slow.1 = slow(p)[1]
for y in [0, 4) {
  let hoisted.slow.0 = hoisted.slow.1
  for x in [0, n[y]) {
    g[x] = hoisted.slow.0
  }
}
)");
}

TEST_CASE("hoist-calls: a call stays where its arguments change in the loop") {
    check_unchanged("for x in [0, 8) {\n  g[x] = slow(x)[1]\n}\n");
    check_unchanged("for x in [0, 8) {\n  let t = in[0]\n  g[x] = slow(t)[1]\n}\n");
    // The loop stores to what the argument is loaded from.
    check_unchanged("for x in [0, 8) {\n  g[x] = slow(g[0])[1]\n}\n");
    CHECK(hoisted("for x in [0, 8) {\n  g[x] = slow(in[0])[1]\n}\n") ==
          "let hoisted.slow.0 = slow(in[0])[1]\n"
          "for x in [0, 8) {\n  g[x] = hoisted.slow.0\n}\n");
}

TEST_CASE("hoist-calls: a call stays that not every iteration makes") {
    check_unchanged("for x in [0, 8) {\n"
                    "  if x == p {\n"
                    "    g[x] = slow(p)[1]\n"
                    "  }\n"
                    "}\n");
    check_unchanged("for x in [0, 8) {\n  g[x] = if_then_else(x == p, slow(p)[1], 0)\n}\n");
    check_unchanged("for x in [0, 8) {\n"
                    "  memoize f[int32] of (8) by (p) {\n"
                    "    f[x] = slow(p)[1]\n"
                    "  } then {\n"
                    "    g[x] = f[x]\n"
                    "  }\n"
                    "}\n");
    // The condition itself is evaluated in every iteration; both operands of a select are, too.
    CHECK(hoisted("for x in [0, 8) {\n  g[x] = if_then_else(x == slow(p)[1], 1, 0)\n}\n") ==
          "let hoisted.slow.0 = slow(p)[1]\n"
          "for x in [0, 8) {\n  g[x] = if_then_else(x == hoisted.slow.0, 1, 0)\n}\n");
    CHECK(hoisted("for x in [0, 8) {\n  g[x] = select(x == p, slow(p)[1], 0)\n}\n") ==
          "let hoisted.slow.0 = slow(p)[1]\n"
          "for x in [0, 8) {\n  g[x] = select(x == p, hoisted.slow.0, 0)\n}\n");
}

TEST_CASE("hoist-calls: only calls of the user's functions without side effects") {
    check_unchanged("for x in [0, 8) {\n  g[x] = sqrt_f32(p)\n}\n");
    check_unchanged("for x in [0, 8) {\n  g[x] = abs(p)\n}\n");
    check_unchanged("for x in [0, 8) {\n  g[x] = print(\"p\", p)\n}\n");
    check_unchanged("g[0] = slow(p)[1]\n");  // not in a loop
}
