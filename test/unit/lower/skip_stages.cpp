#include "lower/skip_stages.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "ir/print.h"
#include "language/freeze.h"
#include "support/parse_ir.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

/// The pass looks in the graph for outputs and async Funcs only: skip_out reads skip_b, which reads skip_a.
struct Chain {
    Var x{"x"};
    Func a{"skip_a"}, b{"skip_b"}, out{"skip_out"};
    Chain() {
        a(x) = x;
        b(x) = a(x);
        out(x) = b(x);
        a.compute_root(), b.compute_root();
    }

    std::string skipped(const std::string &text) const {
        const Types types = {{"skip_a", Int(32)},
                             {"skip_b", Int(32)},
                             {"in", Int(32)},
                             {"p", Bool()},
                             {"q", Bool()}};
        const language::Frozen frozen = language::freeze({out});
        return ir::to_string(
            lower::skip_stages(parse_stmt(text, types), frozen.graph, frozen.schedule));
    }
    void check_unchanged(const std::string &text) const {
        INFO(text);
        CHECK(skipped(text) == text);
    }
};

/// skip_b is stored around its loops, and around `reader`.
std::string with_b(const std::string &reader, const std::string &value = "x * 3 + 1") {
    return "realize skip_b([0, 8)) of int32 {\n"
           "  produce skip_b {\n"
           "    for x in [0, 8) {\n"
           "      skip_b(x) = " +
           value +
           "\n"
           "    }\n"
           "  }\n"
           "  for x in [0, 8) {\n"
           "    " +
           reader +
           "\n"
           "  }\n"
           "}\n";
}

}  // namespace

TEST_CASE_METHOD(Chain,
                 "skip: a Func that is read under a condition is computed where that holds") {
    CHECK(skipped(with_b("skip_out(x) = select(p, skip_b(x), 0)")) ==
          R"(let skip_b.used = p
realize skip_b([0, 8)) of int32 {
  produce skip_b {
    if skip_b.used {
      for x in [0, 8) {
        skip_b(x) = x * 3 + 1
      }
    }
  }
  for x in [0, 8) {
    skip_out(x) = select(p, skip_b(x), 0)
  }
}
)");
    CHECK(skipped(with_b("skip_out(x) = select(p, 0, skip_b(x))"))
              .starts_with("let skip_b.used = !p\n"));
    CHECK(skipped(with_b("if p {\n      skip_out(x) = 1\n    } else {\n      skip_out(x) = "
                         "skip_b(x)\n    }"))
              .starts_with("let skip_b.used = !p\n"));
}

TEST_CASE_METHOD(Chain, "skip: what only a skipped Func reads is skipped with it") {
    const std::string text = "realize skip_a([0, 8)) of int32 {\n"
                             "  produce skip_a {\n"
                             "    for x in [0, 8) {\n"
                             "      skip_a(x) = x * 5 + 2\n"
                             "    }\n"
                             "  }\n" +
                             with_b("skip_out(x) = select(p, skip_b(x), 0)", "skip_a(x) * 3") +
                             "}\n";
    const std::string now = skipped(text);
    INFO(now);
    CHECK(now.starts_with("let skip_a.used = p\nrealize skip_a"));
    CHECK(now.find("let skip_b.used = p\n") != std::string::npos);
    CHECK(now.find("produce skip_a {\n    if skip_a.used {") != std::string::npos);
}

TEST_CASE_METHOD(Chain, "skip: a condition on what is inside of the storage is weakened") {
    // Of p && x < 3, only p is known where skip_b is stored.
    CHECK(skipped(with_b("skip_out(x) = select(p && x < 3, skip_b(x), 0)"))
              .starts_with("let skip_b.used = p\n"));
    check_unchanged(with_b("skip_out(x) = select(x < 3, skip_b(x), 0)"));
}

TEST_CASE_METHOD(Chain, "skip: a Func is computed that is read in any case") {
    check_unchanged(with_b("skip_out(x) = skip_b(x)"));
    check_unchanged(with_b("skip_out(x) = select(p, skip_b(x), 0) + skip_b(x)"));
    check_unchanged(with_b("skip_out(x) = select(p, skip_b(x), skip_b(x + 1))"));
    check_unchanged(with_b("skip_out(x) = select(p, skip_b(x), 0)\n    skip_out(x) = skip_b(x)"));
}

TEST_CASE_METHOD(Chain, "skip: a Func is computed whose value is an address") {
    // Both operands of a select are evaluated, and an arbitrary value is no address.
    check_unchanged(with_b("skip_out(x) = select(p, in(skip_b(x)), 0)"));
    check_unchanged(with_b("skip_out(skip_b(x)) = 1"));
}

TEST_CASE_METHOD(Chain, "skip: a Func is computed that costs less than the test") {
    check_unchanged("realize skip_b([0, 1)) of int32 {\n"
                    "  produce skip_b {\n"
                    "    skip_b(0) = 1\n"
                    "  }\n"
                    "  skip_out(0) = select(p && (q || n < m && n * m < 100), skip_b(0), 0)\n"
                    "}\n");
}

TEST_CASE_METHOD(Chain, "skip: lanes of a vector are computed together") {
    check_unchanged("for i in [0, 4) vectorized {\n"
                    "  realize skip_b([0, 8)) of int32 {\n"
                    "    produce skip_b {\n"
                    "      for x in [0, 8) {\n"
                    "        skip_b(x) = x * 3 + 1\n"
                    "      }\n"
                    "    }\n"
                    "    skip_out(i) = select(p, skip_b(i), 0)\n"
                    "  }\n"
                    "}\n");
}

TEST_CASE_METHOD(Chain, "skip: a task waits for an async Func, which is computed in any case") {
    b.async();
    check_unchanged(with_b("skip_out(x) = select(p, skip_b(x), 0)"));
}

TEST_CASE_METHOD(Chain,
                 "skip: a Func is computed in whose loops another one is that outlives them") {
    check_unchanged("realize skip_a([0, 8)) of int32 {\n"
                    "  realize skip_b([0, 8)) of int32 {\n"
                    "    produce skip_b {\n"
                    "      for x in [0, 8) {\n"
                    "        produce skip_a {\n"
                    "          skip_a(x) = x * 5\n"
                    "        }\n"
                    "        skip_b(x) = skip_a(x) * 3 + 1\n"
                    "      }\n"
                    "    }\n"
                    "    for x in [0, 8) {\n"
                    "      skip_out(x) = select(p, skip_b(x), 0) + skip_a(x)\n"
                    "    }\n"
                    "  }\n"
                    "}\n");
}
