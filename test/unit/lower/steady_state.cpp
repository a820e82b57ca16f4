#include "lower/steady_state.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "ir/simplify.h"
#include "support/parse_ir.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

/// The iterations and the body of the loop in its steady state; "" if there is none.
std::string steady(const std::string &loop, bool innermost = true, const Types &types = {}) {
    const auto found = lower::find_steady_state(parse_stmt(loop, types), innermost);
    if (!found)
        return "";
    auto bound = [](const Expr &e) {
        return e.defined() ? ir::to_string(ir::simplify(e)) : std::string("..");
    };
    return "from " + bound(found->first) + " to " + bound(found->last) + "\n" +
           ir::to_string(ir::simplify(found->body));
}

std::string saved(const std::string &loop, bool innermost) {
    return std::to_string(lower::find_steady_state(parse_stmt(loop), innermost)->saved);
}

}  // namespace

TEST_CASE("steady state: the iterations in which no clamp is active") {
    CHECK(steady("for x in [0, w) {\n"
                 "  out[x] = in[max(x - 1, 0)] + in[min(x + 1, w - 1)]\n"
                 "}\n") == "from 1 to w - 2\n"
                           "out[x] = in[x - 1] + in[x + 1]\n");
}

TEST_CASE("steady state: a test that fails in a few iterations is one that holds") {
    CHECK(steady("for x in [0, w) {\n"
                 "  if x < w - 3 {\n"
                 "    out[x] = 1\n"
                 "  }\n"
                 "}\n") == "from .. to w - 4\n"
                           "out[x] = 1\n");
    CHECK(steady("for x in [0, w) {\n"
                 "  out[x] = select(x < 2, 7, in[x])\n"
                 "}\n") == "from 2 to ..\n"
                           "out[x] = in[x]\n");
}

TEST_CASE("steady state: the arm tagged likely is the usual one") {
    CHECK(steady("for x in [0, w) {\n"
                 "  out[x] = select(x < n, likely(in[x]), 0)\n"
                 "}\n") == "from .. to n - 1\n"
                           "out[x] = likely(in[x])\n");
    CHECK(steady("for x in [0, w) {\n"
                 "  out[x] = select(x < n, 0, likely(in[x]))\n"
                 "}\n") == "from n to ..\n"
                           "out[x] = likely(in[x])\n");
    CHECK(steady("for x in [0, w) {\n  out[x] = in[max(x, likely(n))]\n}\n")
              .starts_with("from .. to n\n"));
    CHECK(steady("for x in [0, w) {\n  out[x] = in[max(x, n)]\n}\n").starts_with("from n to ..\n"));
}

TEST_CASE("steady state: for all iterations of a loop inside") {
    CHECK(steady("for y in [0, h) {\n"
                 "  for k in [-2, 3) {\n"
                 "    out[y] = out[y] + in[max(y + k, 0)]\n"
                 "  }\n"
                 "}\n",
                 false) == "from 2 to ..\n"
                           "for k in [-2, 3) {\n"
                           "  out[y] = in[k + y] + out[y]\n"
                           "}\n");
}

TEST_CASE("steady state: for all lanes of a vector") {
    CHECK(steady("for x in [0, n) {\n"
                 "  out[ramp(x * 8, 1, 8)] = broadcast(1, 8) if ramp(x * 8, 1, 8) < broadcast(w, "
                 "8)\n"
                 "}\n") == "from .. to w / 8 - 1\n"
                           "out[ramp(x * 8, 1, 8)] = broadcast(1, 8)\n");
}

TEST_CASE("steady state: where one is left, the arms that it did not choose") {
    const ir::Stmt loop = parse_stmt("for x in [0, w) {\n"
                                     "  out[x] = select(x < n, a[x], select(x < m, b[x], c[x]))\n"
                                     "}\n");
    const auto first = lower::find_steady_state(loop, true);
    REQUIRE(first->after.outcomes.size() == 1);
    CHECK(first->before.outcomes.empty());
    CHECK_FALSE(first->after.outcomes[0].second);
    const auto second = lower::find_steady_state(loop, true, first->after);
    CHECK(ir::to_string(second->body) == "out[x] = b[x]\n");
    CHECK_FALSE(second->first.defined());  // n <= x is known
    CHECK(ir::to_string(ir::simplify(second->last)) == "m - 1");
    const auto third = lower::find_steady_state(loop, true, second->after);
    CHECK(ir::to_string(third->body) == "out[x] = c[x]\n");
    CHECK((!third->first.defined() && !third->last.defined()));
}

TEST_CASE("steady state: none where no condition depends on the loop") {
    CHECK(steady("for x in [0, w) {\n  out[x] = in[x]\n}\n").empty());
    CHECK(steady("for x in [0, w) {\n  out[x] = in[max(y, 0)]\n}\n").empty());
    // What is loaded may be anything.
    CHECK(steady("for x in [0, w) {\n  out[x] = in[max(index[x], 0)]\n}\n").empty());
    // Not a sum of the loop variable.
    CHECK(steady("for x in [0, w) {\n  out[x] = in[max(x * x, n)]\n}\n").empty());
}

TEST_CASE("steady state: none of numbers that wrap around, whose differences do not compare") {
    const Types types = {{"t", UInt(32)}};
    CHECK(steady("for x in [0, w) {\n  out[x] = max(uint8(x), uint8(3))\n}\n").empty());
    CHECK(steady("for x in [0, w) {\n"
                 "  out[x] = select(uint32(x) + t < uint32(9), 1, 2)\n"
                 "}\n",
                 true, types)
              .empty());
}

TEST_CASE("steady state: what can be hoisted out of the innermost loops saves nothing there") {
    const std::string clamped_row = "for y in [0, h) {\n"
                                    "  for x in [0, w) {\n"
                                    "    out[x] = in[max(y - 1, 0) * 100 + x]\n"
                                    "  }\n"
                                    "}\n",
                      clamped_column = "for x in [0, w) {\n"
                                       "  out[x] = in[max(x - 1, 0)]\n"
                                       "}\n";
    CHECK(steady(clamped_row, false).empty());
    CHECK(saved(clamped_column, true) == "1");
}
