#include "lower/fork.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "ir/print.h"
#include "language/freeze.h"
#include "support/parse_ir.h"
#include "support/require_message.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

const Var x("x"), y("y");

/// The Funcs that are read.
const Types types = {
    {"fork_a", Int(32)}, {"fork_b", Int(32)}, {"shared_a", Int(32)}, {"shared_b", Int(32)}};

/// out reads a, which reads b.
struct Chain {
    Func b{"fork_b"}, a{"fork_a"}, out{"fork_out"};
    Chain() {
        b(x, y) = x + y;
        a(x, y) = b(x, y) + b(x, y + 1);
        out(x, y) = a(x, y) * 2;
        b.compute_root(), a.compute_root();
    }
    std::string forked(const std::string &text) const {
        const language::Frozen frozen = language::freeze({out});
        return ir::to_string(lower::fork_tasks(parse_stmt(text, types), frozen.graph));
    }
};

/// `fork a` with `body` in both halves, as built.
std::string fork_of_a(const std::string &body) {
    return "fork fork_a, 2 {\n" + body + "} and {\n" + body + "}\n";
}

}  // namespace

TEST_CASE("fork: the producer's task keeps the production, the consumer's the rest") {
    const std::string loops = "  for y in [0, h) {\n"
                              "    produce fork_a {\n"
                              "      acquire fork_a.free\n"
                              "      fork_a(0, y) = y\n"
                              "      release fork_a.ready\n"
                              "    }\n"
                              "    consume fork_a {\n"
                              "      acquire fork_a.ready\n"
                              "      fork_out(0, y) = fork_a(0, y)\n"
                              "      release fork_a.free\n"
                              "    }\n"
                              "  }\n";
    const Chain chain;
    CHECK(chain.forked(fork_of_a(loops)) == "fork fork_a, 2 {\n"
                                            "  for y in [0, h) {\n"
                                            "    produce fork_a {\n"
                                            "      acquire fork_a.free\n"
                                            "      fork_a(0, y) = y\n"
                                            "      release fork_a.ready\n"
                                            "    }\n"
                                            "  }\n"
                                            "} and {\n"
                                            "  for y in [0, h) {\n"
                                            "    consume fork_a {\n"
                                            "      acquire fork_a.ready\n"
                                            "      fork_out(0, y) = fork_a(0, y)\n"
                                            "      release fork_a.free\n"
                                            "    }\n"
                                            "  }\n"
                                            "}\n");
}

TEST_CASE("fork: what the async Func needs is computed in its task") {
    const std::string loops = "  realize fork_b([0, 8), [0, 8)) of int32 {\n"
                              "    produce fork_b {\n"
                              "      fork_b(0, 0) = 1\n"
                              "    }\n"
                              "    produce fork_a {\n"
                              "      acquire fork_a.free\n"
                              "      fork_a(0, 0) = fork_b(0, 0)\n"
                              "      release fork_a.ready\n"
                              "    }\n"
                              "    consume fork_a {\n"
                              "      acquire fork_a.ready\n"
                              "      fork_out(0, 0) = fork_a(0, 0)\n"
                              "      release fork_a.free\n"
                              "    }\n"
                              "  }\n";
    const Chain chain;
    CHECK(chain.forked(fork_of_a(loops)) == "fork fork_a, 2 {\n"
                                            "  realize fork_b([0, 8), [0, 8)) of int32 {\n"
                                            "    produce fork_b {\n"
                                            "      fork_b(0, 0) = 1\n"
                                            "    }\n"
                                            "    produce fork_a {\n"
                                            "      acquire fork_a.free\n"
                                            "      fork_a(0, 0) = fork_b(0, 0)\n"
                                            "      release fork_a.ready\n"
                                            "    }\n"
                                            "  }\n"
                                            "} and {\n"
                                            "  realize fork_b([0, 8), [0, 8)) of int32 {\n"
                                            "    consume fork_a {\n"
                                            "      acquire fork_a.ready\n"
                                            "      fork_out(0, 0) = fork_a(0, 0)\n"
                                            "      release fork_a.free\n"
                                            "    }\n"
                                            "  }\n"
                                            "}\n");
}

TEST_CASE("fork: loops without an async Func stay") {
    const Chain chain;
    const std::string loops = "for y in [0, h) {\n"
                              "  produce fork_a {\n"
                              "    fork_a(0, y) = y\n"
                              "  }\n"
                              "}\n";
    CHECK(chain.forked(loops) == loops);
}

TEST_CASE("fork: two tasks cannot compute one Func whose storage both share") {
    struct Shared {
        Func b{"shared_b"}, a{"shared_a"}, out{"shared_out"};
        Shared() {
            b(x, y) = x + y;
            a(x, y) = b(x, y);
            out(x, y) = a(x, y) + b(x, y);
            b.compute_root(), a.compute_root();
        }
    } s;
    const std::string body = "  produce shared_b {\n"
                             "    shared_b(0, 0) = 1\n"
                             "  }\n"
                             "  produce shared_a {\n"
                             "    acquire shared_a.free\n"
                             "    shared_a(0, 0) = shared_b(0, 0)\n"
                             "    release shared_a.ready\n"
                             "  }\n"
                             "  consume shared_a {\n"
                             "    acquire shared_a.ready\n"
                             "    shared_out(0, 0) = shared_a(0, 0) + shared_b(0, 0)\n"
                             "    release shared_a.free\n"
                             "  }\n";
    const language::Frozen frozen = language::freeze({s.out});
    require_message<CompileError>(
        [&] {
            lower::fork_tasks(
                parse_stmt("fork shared_a, 1 {\n" + body + "} and {\n" + body + "}\n", types),
                frozen.graph);
        },
        {"shared_a", "shared_b"});
}
