// What vectorize_loops makes of each kind of statement.
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "lower/vectorize_loops.h"
#include "support/parse_ir.h"
#include "support/require_message.h"
#include "unit/lower/nest_text.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

const Types types = {{"flag", Bool()}};

std::string vectorized(const std::string &text, const Target *target = nullptr) {
    return ir::to_string(lower::vectorize_loops(parse_stmt(text, types), target));
}

std::string in_x(const std::string &body) {
    return around("for x in [0, 4) vectorized", body);
}

/// `body` for four lanes is `expected`.
void check(const std::string &body, const std::string &expected) {
    INFO(body);
    CHECK(vectorized(in_x(body)) == expected);
}

/// It is done as a whole, lane by lane.
void check_by_lane(const std::string &body) {
    check(body, around("for x in [0, 4) unpartitioned", body));
}

void check_refused(const std::string &body, const std::vector<std::string> &parts) {
    require_message<CompileError>([&] { vectorized(in_x(body)); }, parts);
}

const std::string below_3 = "in[ramp(0, 1, 4)] < broadcast(3, 4)";

}  // namespace

TEST_CASE(
    "vectorize: as many lanes as the loop can have iterations, masked where it may have fewer") {
    CHECK(vectorized("for x in [m, m + 4) vectorized {\n  out[x] = in[x]\n}\n") ==
          "out[ramp(m, 1, 4)] = in[ramp(m, 1, 4)]\n");
    CHECK(vectorized("for x in [0, min(n, 4)) vectorized {\n  out[x] = in[x]\n}\n") ==
          "let x.mask = ramp(0, 1, 4) < broadcast(min(n, 4), 4)\n"
          "out[ramp(0, 1, 4)] = in[ramp(0, 1, 4) if x.mask] if x.mask\n");
    CHECK(vectorized("let e = min(n, 4)\n"
                     "for x in [2, 2 + e) vectorized {\n  out[x] = 1\n}\n") ==
          "let e = min(n, 4)\n"
          "let x.mask = ramp(2, 1, 4) < broadcast(2 + e, 4)\n"
          "out[ramp(2, 1, 4)] = broadcast(1, 4) if x.mask\n");
    CHECK(vectorized("for x in [0, 1024) vectorized {\n  out[x] = 1\n}\n") ==
          "out[ramp(0, 1, 1024)] = broadcast(1, 1024)\n");
    require_message<CompileError>(
        [] { vectorized("for x in [0, 1025) vectorized {\n  out[x] = 1\n}\n"); },
        {"1025 lanes are too many (at most 1024)"});
}

TEST_CASE("vectorize: one lane is no vector, and no lane nothing") {
    CHECK(vectorized("for x in [m, m + 1) vectorized {\n  out[x] = in[x]\n}\n") ==
          "let x = m\nout[x] = in[x]\n");
    CHECK(vectorized("for x in [m, m + min(n, 1)) vectorized {\n  out[x] = in[x]\n}\n") ==
          "let x = m\nif x < m + min(n, 1) {\n  out[x] = in[x]\n}\n");
    CHECK(vectorized("for x in [0, 0) vectorized {\n  out[x] = in[x]\n}\n") == "evaluate 0\n");
    check("evaluate x + 1\n", "evaluate 0\n");
}

TEST_CASE("vectorize: of two nested loops, the inner one becomes vectors") {
    check("for y in [0, 2) vectorized {\n  out[x * 8 + y] = in[x]\n}\n",
          "for x in [0, 4) {\n  out[ramp(x * 8, 1, 2)] = broadcast(in[x], 2)\n}\n");
    // Loops of other kinds stay.
    for (const char *kind : {"", " parallel", " unrolled"}) {
        const std::string text = std::string("for y in [0, 4)") + kind + " {\n  out[y] = 1\n}\n";
        CHECK(vectorized(text) == text);
    }
}

TEST_CASE("vectorize: statements that only evaluate something are left out, with all around them") {
    for (const char *head : {"produce f", "for y in [0, n)", "for y in [0, x)", "if flag",
                             "if x < n", "allocate t[int32 * 3]", "if flag {\n  evaluate x\n} else",
                             "if x < n {\n  evaluate x\n} else"})
        check(around(head, "evaluate x\n") + "out[x] = 1\n",
              "out[ramp(0, 1, 4)] = broadcast(1, 4)\n");
    check("let v = in[x]\nevaluate v\n", "evaluate 0\n");
    check("let v = in[k]\nevaluate v\n", "evaluate 0\n");
    check("if in[x] < 3 {\n  let v = in[k]\n  evaluate v\n}\n", "evaluate 0\n");
    check("produce f {\n  f[x] = 1\n}\n", "produce f {\n  f[ramp(0, 1, 4)] = broadcast(1, 4)\n}\n");
}

TEST_CASE("vectorize: a name of what differs between lanes is one of a vector") {
    check("let v = in[x]\nlet u = k + 1\nout[v] = u\n",
          "let v.v = in[ramp(0, 1, 4)]\nlet u = k + 1\nout[v.v] = broadcast(u, 4)\n");
    check("let v = x * 2\nout[v] = in[v + 1]\n",
          "let v.v = ramp(0, 2, 4)\nout[v.v] = in[v.v + broadcast(1, 4)]\n");
    check("let v = in[x]\nlet u = v + 1\nout[u] = v\n",
          "let v.v = in[ramp(0, 1, 4)]\nlet u.v = v.v + broadcast(1, 4)\nout[u.v] = v.v\n");
    // A later lane would read what an earlier one stored.
    check_by_lane("let v = a[x - 1]\na[x] = v + 1\n");
}

TEST_CASE(
    "vectorize: calls with effects are made lane by lane, in the scalar forms of what is around") {
    check_by_lane("evaluate print(\"x\", x)\n");
    check_by_lane("out[x] = print(\"x\", x)\n");
    check_by_lane("if print(\"x\", x) < 3 {\n  out[x] = 1\n}\n");
    check("let v = in[x] + 1\nlet u = k\nif v < 3 {\n  evaluate print(\"x\", v)\n}\n",
          "let v.v = in[ramp(0, 1, 4)] + broadcast(1, 4)\n"
          "let u = k\n"
          "let x.mask = v.v < broadcast(3, 4)\n"
          "for x in [0, 4) unpartitioned {\n"
          "  let v = in[x] + 1\n"
          "  if v < 3 {\n"
          "    evaluate print(\"x\", v)\n"
          "  }\n"
          "}\n");
    // Behind it, what was around is no longer.
    check("{\n  let v = in[x]\n  out[x] = v\n}\nif in[x] < 3 {\n  out[x] = 1\n}\n"
          "evaluate print(\"x\", v)\n",
          "{\n  let v.v = in[ramp(0, 1, 4)]\n  out[ramp(0, 1, 4)] = v.v\n}\n"
          "{\n  let x.mask = " +
              below_3 +
              "\n  out[ramp(0, 1, 4)] = broadcast(1, 4) if x.mask\n}\n"
              "for x in [0, 4) unpartitioned {\n  evaluate print(\"x\", v)\n}\n");
    check("for y in [0, n) {\n  evaluate print(\"x\", x)\n  out[x] = y\n}\n",
          "for y in [0, n) {\n"
          "  for x in [0, 4) unpartitioned {\n"
          "    evaluate print(\"x\", x)\n"
          "  }\n"
          "  out[ramp(0, 1, 4)] = broadcast(y, 4)\n"
          "}\n");
}

TEST_CASE("vectorize: what single lanes evaluate again must not have changed") {
    check_by_lane("let v = in[x]\nin[x] = 1\nevaluate print(\"x\", v)\n");
    check_by_lane("let v = in[x]\nlast[k] = v\nin[x] = 2\n");
    check_by_lane("if in[x] < 3 {\n  in[x] = 1\n  evaluate print(\"x\", x)\n}\n");
    check_by_lane("for y in [0, in[x]) {\n  evaluate print(\"x\", x)\n  in[x] = y\n}\n");
    check_by_lane("for y in [in[x], in[x] + 2) {\n  evaluate print(\"x\", x)\n  in[x] = y\n}\n");
    // Nothing is evaluated again, or nothing has changed.
    check("let v = in[x]\nin[x] = 1\nout[x] = v\n", "let v.v = in[ramp(0, 1, 4)]\n"
                                                    "in[ramp(0, 1, 4)] = broadcast(1, 4)\n"
                                                    "out[ramp(0, 1, 4)] = v.v\n");
    check("let v = in[x]\nout[x] = 1\nevaluate print(\"x\", v)\n",
          "let v.v = in[ramp(0, 1, 4)]\n"
          "out[ramp(0, 1, 4)] = broadcast(1, 4)\n"
          "for x in [0, 4) unpartitioned {\n"
          "  let v = in[x]\n"
          "  evaluate print(\"x\", v)\n"
          "}\n");
}

TEST_CASE("vectorize: an assertion that fails in some lane says for which") {
    check("assert n < 3, \"n\"\n", "assert n < 3, \"n\"\n");
    check("assert in[x] < 3, \"x\"\n", "if reduce<||>(!(" + below_3 +
                                           "), 1) {\n"
                                           "  for x in [0, 4) unpartitioned {\n"
                                           "    assert in[x] < 3, \"x\"\n"
                                           "  }\n"
                                           "}\n");
    check("assert n < 3, \"x is\", in[x]\n", "if !(n < 3) {\n"
                                             "  for x in [0, 4) unpartitioned {\n"
                                             "    assert n < 3, \"x is\", in[x]\n"
                                             "  }\n"
                                             "}\n");
    check("if in[x] < 3 {\n  assert n < 3, \"n\"\n}\n",
          "let x.mask = " + below_3 +
              "\n"
              "if reduce<||>(x.mask && broadcast(!(n < 3), 4), 1) {\n"
              "  for x in [0, 4) unpartitioned {\n"
              "    if in[x] < 3 {\n"
              "      assert n < 3, \"n\"\n"
              "    }\n"
              "  }\n"
              "}\n");
}

TEST_CASE("vectorize: a condition that differs between lanes masks what is below") {
    check("if in[x] < 3 {\n  out[x] = g[x]\n}\n",
          "let x.mask = " + below_3 +
              "\n"
              "out[ramp(0, 1, 4)] = g[ramp(0, 1, 4) if x.mask] if x.mask\n");
    check("if in[x] < 3 {\n  if g[x] < 3 {\n    out[x] = 1\n  }\n  out[x] = 2\n}\n",
          "let x.mask = " + below_3 +
              "\n"
              "{\n"
              "  let x.mask.1 = x.mask && g[ramp(0, 1, 4) if x.mask] < broadcast(3, 4)\n"
              "  out[ramp(0, 1, 4)] = broadcast(1, 4) if x.mask.1\n"
              "}\n"
              "out[ramp(0, 1, 4)] = broadcast(2, 4) if x.mask\n");
    check("if in[x] < 3 {\n  out[x] = 1\n} else {\n  out[x] = 2\n}\n",
          "let x.if = " + below_3 +
              "\n"
              "out[ramp(0, 1, 4)] = broadcast(1, 4) if x.if\n"
              "let x.mask = !x.if\n"
              "out[ramp(0, 1, 4)] = broadcast(2, 4) if x.mask\n");
    check("if in[x] < 3 {\n  evaluate x\n} else {\n  out[x] = 2\n}\n",
          "let x.if = " + below_3 +
              "\n"
              "let x.mask = !x.if\n"
              "out[ramp(0, 1, 4)] = broadcast(2, 4) if x.mask\n");
}

TEST_CASE("vectorize: where code under a mask reads one element for all lanes, some lane is on") {
    check("if in[x] < 3 {\n  out[x] = in[k] + g[x]\n}\n",
          "let x.mask = " + below_3 +
              "\n"
              "if reduce<||>(x.mask, 1) {\n"
              "  out[ramp(0, 1, 4)] = broadcast(in[k], 4) + g[ramp(0, 1, 4) if x.mask] if x.mask\n"
              "}\n");
    // So it is for the condition around, but not for another one behind.
    check("if in[x] < 3 {\n  if g[x] < 3 {\n    out[x] = in[k]\n  }\n  out[x] = 1\n}\n"
          "if in[x] < 3 {\n  out[x] = 2\n}\n",
          "{\n"
          "  let x.mask = " +
              below_3 +
              "\n"
              "  if reduce<||>(x.mask, 1) {\n"
              "    {\n"
              "      let x.mask.1 = x.mask && g[ramp(0, 1, 4) if x.mask] < broadcast(3, 4)\n"
              "      if reduce<||>(x.mask.1, 1) {\n"
              "        out[ramp(0, 1, 4)] = broadcast(in[k], 4) if x.mask.1\n"
              "      }\n"
              "    }\n"
              "    out[ramp(0, 1, 4)] = broadcast(1, 4) if x.mask\n"
              "  }\n"
              "}\n"
              "let x.mask = " +
              below_3 +
              "\n"
              "out[ramp(0, 1, 4)] = broadcast(2, 4) if x.mask\n");
    check("if in[x] < 3 {\n  last[k] = in[k]\n  if g[x] < 3 {\n    out[x] = 1\n  }\n}\n",
          "let x.mask = " + below_3 +
              "\n"
              "if reduce<||>(x.mask, 1) {\n"
              "  if reduce<||>(x.mask, 1) {\n"
              "    last[k] = in[k]\n"
              "  }\n"
              "  let x.mask.1 = x.mask && g[ramp(0, 1, 4) if x.mask] < broadcast(3, 4)\n"
              "  out[ramp(0, 1, 4)] = broadcast(1, 4) if x.mask.1\n"
              "}\n");
}

TEST_CASE("vectorize: a condition that is the same in all lanes stays a branch") {
    check("if flag {\n  out[x] = 1\n} else {\n  out[x] = 2\n}\n",
          "if flag {\n"
          "  out[ramp(0, 1, 4)] = broadcast(1, 4)\n"
          "} else {\n"
          "  out[ramp(0, 1, 4)] = broadcast(2, 4)\n"
          "}\n");
    check("if flag {\n  out[x] = 1\n} else {\n  evaluate x\n}\n",
          "if flag {\n  out[ramp(0, 1, 4)] = broadcast(1, 4)\n}\n");
    check("if flag {\n  evaluate x\n} else {\n  out[x] = 2\n}\n",
          "if !flag {\n  out[ramp(0, 1, 4)] = broadcast(2, 4)\n}\n");
    // So does the part of a condition that is, if it reads no memory.
    check("if x < n && (n < 3 && flag) {\n  out[x] = 1\n}\n",
          "if n < 3 && flag {\n"
          "  let x.mask = ramp(0, 1, 4) < broadcast(n, 4)\n"
          "  out[ramp(0, 1, 4)] = broadcast(1, 4) if x.mask\n"
          "}\n");
    check("if x < n && in[0] < 3 {\n  out[x] = 1\n}\n",
          "let x.mask = ramp(0, 1, 4) < broadcast(n, 4) && broadcast(in[0] < 3, 4)\n"
          "out[ramp(0, 1, 4)] = broadcast(1, 4) if x.mask\n");
}

TEST_CASE("vectorize: without masked instructions, the end of a loop alone is done lane by lane") {
    const Target sse("x86-64-linux-sse41");
    auto is_by_lane = [&](const std::string &body) {
        const std::string text = vectorized(in_x(body), &sse);
        INFO(text);
        return text.find("remainder") != std::string::npos;
    };
    CHECK(is_by_lane("if x < n {\n  out[x] = 1\n}\n"));
    CHECK_FALSE(is_by_lane("if in[x] < n {\n  out[x] = 1\n}\n"));
    CHECK_FALSE(is_by_lane("if x < n {\n  out[x] = 1\n} else {\n  out[x] = 2\n}\n"));
    CHECK_FALSE(is_by_lane("if x < n {\n  evaluate x\n}\n"));
    // Single lanes would evaluate the let again, behind the stores of lanes before.
    CHECK(is_by_lane("let v = g[x]\nif x < n {\n  out[x] = v\n}\n"));
    CHECK_FALSE(is_by_lane("let v = out[x]\nif x < n {\n  out[x] = v\n}\n"));
}

TEST_CASE("vectorize: a loop with the same bounds in all lanes is around vectors") {
    check("for y in [0, n) {\n  out[x + y * 4] = y\n}\n",
          "for y in [0, n) {\n  out[ramp(y * 4, 1, 4)] = broadcast(y, 4)\n}\n");
    check_by_lane("for y in [0, 2) parallel {\n  out[x + y * 4] = 1\n}\n");
}

TEST_CASE(
    "vectorize: a loop whose bounds differ runs as often as the lane with the most iterations") {
    check("for y in [k, k + x) {\n  out[x + y * 4] = 1\n}\n",
          "let y.lane_min = k\n"
          "let y.lane_extent = ramp(0, 1, 4)\n"
          "for y.step in [0, reduce<max>(y.lane_extent, 1)) {\n"
          "  let y = y.lane_min + y.step\n"
          "  let x.mask = broadcast(y.step, 4) < y.lane_extent\n"
          "  out[ramp(y * 4, 1, 4)] = broadcast(1, 4) if x.mask\n"
          "}\n");
    check("for y in [x, x + n) {\n  out[x + y * 4] = 1\n}\n",
          "let y.lane_min = ramp(0, 1, 4)\n"
          "let y.lane_extent = broadcast(n, 4)\n"
          "for y.step in [0, reduce<max>(y.lane_extent, 1)) {\n"
          "  let y.v = y.lane_min + broadcast(y.step, 4)\n"
          "  let x.mask = broadcast(y.step, 4) < y.lane_extent\n"
          "  out[ramp(0, 1, 4) + y.v * broadcast(4, 4)] = broadcast(1, 4) if x.mask\n"
          "}\n");
    // Lanes that are off have no iterations.
    check(
        "if in[x] < 3 {\n  for y in [0, g[x]) {\n    out[x] = y\n  }\n}\n",
        "let x.mask = " + below_3 +
            "\n"
            "let y.lane_min = 0\n"
            "let y.lane_extent = g[ramp(0, 1, 4) if x.mask]\n"
            "for y.step in [0, reduce<max>(select(x.mask, y.lane_extent, broadcast(0, 4)), 1)) {\n"
            "  let y = y.lane_min + y.step\n"
            "  let x.mask.1 = x.mask && broadcast(y.step, 4) < y.lane_extent\n"
            "  out[ramp(0, 1, 4)] = broadcast(y, 4) if x.mask.1\n"
            "}\n");
}

TEST_CASE("vectorize: what is allocated in the loop is one array per lane, of the largest size") {
    check("allocate t[int32 * (x + 2)] {\n  t[in[x]] = 1\n  out[x] = t[k]\n}\nt[0] = 2\n",
          "allocate t[int32 * 5 * 4] {\n"
          "  t[in[ramp(0, 1, 4)] * broadcast(4, 4) + ramp(0, 1, 4)] = broadcast(1, 4)\n"
          "  out[ramp(0, 1, 4)] = t[ramp(k * 4, 1, 4)]\n"
          "}\n"
          "t[0] = 2\n");
    check("allocate t[int32] {\n  t[0] = x\n}\n",
          "allocate t[int32 * 4] {\n  t[ramp(0, 1, 4)] = ramp(0, 1, 4)\n}\n");
    // Code for one lane uses its own.
    CHECK(vectorized("for x in [2, 6) vectorized {\n"
                     "  allocate t[int32 * 3] {\n"
                     "    t[1] = in[x]\n"
                     "    exclusive f {\n"
                     "      t[0] = t[1] + in[0]\n"
                     "      f[0] = t[0]\n"
                     "    }\n"
                     "  }\n"
                     "}\n") == "allocate t[int32 * 3 * 4] {\n"
                               "  t[ramp(4, 1, 4)] = in[ramp(2, 1, 4)]\n"
                               "  for x in [2, 6) unpartitioned {\n"
                               "    exclusive f {\n"
                               "      t[x - 2] = t[4 + (x - 2)] + in[0]\n"
                               "      f[0] = t[x - 2]\n"
                               "    }\n"
                               "  }\n"
                               "}\n");
}

TEST_CASE("vectorize: prefetches and exclusive statements are done lane by lane") {
    check_by_lane("prefetch in(x * 4)\n");
    check_by_lane("exclusive f {\n  f[x] = 1\n}\n");
}

TEST_CASE("vectorize: lanes have no tasks and no caches of their own") {
    check_refused("fork g {\n  g[x] = 1\n} and {\n  out[x] = 2\n}\n",
                  {"async: g", "a task in each lane"});
    check_refused("acquire g.ready\n", {"async: g", "loop x"});
    check_refused("release g.free\n", {"async: g", "loop x"});
    check_refused("memoize g[int32] of (8) by (p) {\n  g[0] = x\n} then {\n  out[x] = g[0]\n}\n",
                  {"memoize: g", "looked up in each lane of the vectorized loop x"});
}

TEST_CASE(
    "vectorize: an update of one element combines the lanes if the operation is associative") {
    const std::string lanes = "in[ramp(0, 1, 4)]";
    check("sum[k] = sum[k] + in[x]\n", "sum[k] = sum[k] + reduce<+>(" + lanes + ", 1)\n");
    check("sum[k] = in[x] + sum[k]\n", "sum[k] = sum[k] + reduce<+>(" + lanes + ", 1)\n");
    check("sum[k] = sum[k] - in[x]\n", "sum[k] = sum[k] - reduce<+>(" + lanes + ", 1)\n");
    check("sum[k] = max(sum[k], in[x])\n", "sum[k] = max(sum[k], reduce<max>(" + lanes + ", 1))\n");
    check("sum[k] = sum[k] * in[x]\n", "sum[k] = sum[k] * reduce<*>(" + lanes + ", 1)\n");
    check("sum[k] = sum[k] + 2\n", "sum[k] = sum[k] + reduce<+>(broadcast(2, 4), 1)\n");
    check("atomic sum[k] = sum[k] + in[x]\n",
          "atomic sum[k] = sum[k] + reduce<+>(" + lanes + ", 1)\n");
    for (const char *update :
         {"in[x] - sum[k]", "sum[k] / in[x]", "sum[k] + sum[k]", "sum[k] + sum[x]",
          "sum[k + 1] + in[x]", "in[x] + (sum[k] + 1)", "sum[k if flag] + in[x]",
          "abs(sum[k] + in[x])", "select(sum[k] < in[x], 1, 2)"})
        check_by_lane(std::string("sum[k] = ") + update + "\n");
    check_by_lane("flags[k] = flags[k] == in[x]\n");
    check_by_lane("sum[k] = other[k] + sum[x]\n");
}

TEST_CASE(
    "vectorize: of an update of one element under a mask, lanes that are off change nothing") {
    check("if in[x] < 3 {\n  sum[k] = sum[k] * g[x]\n}\n",
          "let x.mask = " + below_3 +
              "\n"
              "if reduce<||>(x.mask, 1) {\n"
              "  if reduce<||>(x.mask, 1) {\n"
              "    sum[k] = sum[k] * reduce<*>(select(x.mask, g[ramp(0, 1, 4) if x.mask], "
              "broadcast(1, 4)), 1)\n"
              "  }\n"
              "}\n");
    check("atomic sum[k] = sum[k] - g[x] if in[x] < 3\n",
          "if reduce<||>(" + below_3 +
              ", 1) {\n"
              "  atomic sum[k] = sum[k] - reduce<+>(select(" +
              below_3 +
              ", g[ramp(0, 1, 4)], broadcast(0, 4)), 1)\n"
              "}\n");
    check_by_lane("sum[k] = sum[k] + in[x] if flag\n");
}

TEST_CASE("vectorize: of other stores to one element, the last lane's value stays") {
    check("last[k] = in[x]\n", "let x = 3\nlast[k] = in[x]\n");
    check("last[k] = n\n", "last[k] = n\n");
    check("last[k] = n if flag\n", "last[k] = n if flag\n");
    check("if in[x] < 3 {\n  last[k] = n\n}\n", "let x.mask = " + below_3 +
                                                    "\n"
                                                    "if reduce<||>(x.mask, 1) {\n"
                                                    "  last[k] = n\n"
                                                    "}\n");
    check("if in[x] < 3 {\n  last[k] = g[x]\n}\n", "let x.mask = " + below_3 +
                                                       "\n"
                                                       "for x in [0, 4) unpartitioned {\n"
                                                       "  if in[x] < 3 {\n"
                                                       "    last[k] = g[x]\n"
                                                       "  }\n"
                                                       "}\n");
}

TEST_CASE("vectorize: atomic updates of several elements are done lane by lane") {
    check_by_lane("atomic sum[in[x]] = sum[in[x]] + 1\n");
    check_by_lane("atomic sum[x] = sum[x] + 1\n");
}
