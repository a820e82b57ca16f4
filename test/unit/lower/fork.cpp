#include "lower/fork.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "ir/print.h"
#include "language/freeze.h"
#include "support/parse_ir.h"
#include "support/require_message.h"
#include "unit/lower/nest_text.h"

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

namespace {

/// out reads a and c, which both read b. Only b reads d, only a reads e, only e reads g.
struct Diamond {
    Func d{"dia_d"}, g{"dia_g"}, e{"dia_e"}, b{"dia_b"}, a{"dia_a"}, c{"dia_c"}, out{"dia_out"};
    Diamond() {
        d(x, y) = x;
        b(x, y) = d(x, y);
        g(x, y) = y;
        e(x, y) = g(x, y);
        a(x, y) = b(x, y) + e(x, y);
        c(x, y) = b(x, y);
        out(x, y) = a(x, y) + c(x, y);
        for (Func *f : {&d, &g, &e, &b, &a, &c})
            f->compute_root();
    }
    std::string forked(const std::string &text) const {
        const language::Frozen frozen = language::freeze({out});
        const Types called = {{"dia_a", Int(32)}, {"dia_b", Int(32)}, {"dia_c", Int(32)},
                              {"dia_d", Int(32)}, {"dia_e", Int(32)}, {"dia_g", Int(32)}};
        return ir::to_string(lower::fork_tasks(parse_stmt(text, called), frozen.graph));
    }
    /// The tasks of a, of which `body` is the part that both begin with.
    std::string of_a(const std::string &body) const { return forked(in_fork("dia_a", body, body)); }

    static std::string in_fork(const std::string &name, const std::string &producer,
                               const std::string &consumer) {
        return "fork " + name + ", 2 {\n" + indented(producer) + "} and {\n" + indented(consumer) +
               "}\n";
    }
};

std::string produce(const std::string &name, const std::string &value) {
    return around("produce " + name, name + "(0, 0) = " + value + "\n");
}
std::string realize(const std::string &name, const std::string &body) {
    return around("realize " + name + "([0, 8), [0, 8)) of int32", body);
}
/// The productions of an async Func in its task, and what waits for it.
std::string produce_async(const std::string &name, const std::string &value) {
    return around("produce " + name, "acquire " + name + ".free\n" + name + "(0, 0) = " + value +
                                         "\nrelease " + name + ".ready\n");
}
std::string consume_async(const std::string &name, const std::string &body) {
    return around("consume " + name,
                  "acquire " + name + ".ready\n" + body + "release " + name + ".free\n");
}

const std::string of_a = produce_async("dia_a", "dia_b(0, 0)"),
                  rest = consume_async("dia_a", "dia_out(0, 0) = dia_a(0, 0)\n");

}  // namespace

TEST_CASE("fork: what both tasks need is computed by both, and what one needs by that one") {
    const std::string b = produce("dia_b", "dia_d(0, 0)"), c = produce("dia_c", "dia_b(0, 0)"),
                      d = produce("dia_d", "1");
    CHECK(Diamond().of_a(
              realize("dia_d", realize("dia_b", realize("dia_c", d + b + of_a + c + rest)))) ==
          Diamond::in_fork("dia_a",
                           realize("dia_d", realize("dia_b", realize("dia_c", d + b + of_a))),
                           realize("dia_d", realize("dia_b", realize("dia_c", d + b + c + rest)))));
    const std::string g = produce("dia_g", "1"), e = produce("dia_e", "dia_g(0, 0)");
    CHECK(Diamond().of_a(g + e + of_a + rest) == Diamond::in_fork("dia_a", g + e + of_a, rest));
    // What is computed outside is there for both.
    CHECK(Diamond().of_a(realize("dia_c", of_a + c + rest)) ==
          Diamond::in_fork("dia_a", realize("dia_c", of_a), realize("dia_c", c + rest)));
}

TEST_CASE("fork: statements around what a task does not do are left out") {
    const std::string c = produce("dia_c", "1");
    for (const char *head :
         {"for y in [0, h)", "let v = 1", "allocate t[int32 * 4]", "exclusive dia_c", "if p < 3"}) {
        const bool is_let = std::string(head).starts_with("let");
        auto in_head = [&](const std::string &body) {
            return is_let ? std::string("{\n  ") + head + "\n" + indented(body) + "}\n"
                          : around(head, body);
        };
        CHECK(Diamond().of_a(in_head(of_a) + in_head(c) + rest) ==
              Diamond::in_fork("dia_a", is_let ? "let v = 1\n" + of_a : in_head(of_a),
                               in_head(c) + rest));
    }
}

TEST_CASE("fork: of an if, each task keeps the cases in which it does something") {
    const std::string c = produce("dia_c", "1");
    auto branch = [](const std::string &then, const std::string &otherwise) {
        return "if p < 3 {\n" + indented(then) + around("} else", otherwise);
    };
    const std::string nothing = "evaluate 0\n";
    CHECK(Diamond().of_a(branch(of_a, c) + rest) ==
          Diamond::in_fork("dia_a", around("if p < 3", of_a), branch(nothing, c) + rest));
    CHECK(Diamond().of_a(branch(c, of_a) + rest) ==
          Diamond::in_fork("dia_a", branch(nothing, of_a), around("if p < 3", c) + rest));
    CHECK(Diamond().of_a(branch(c, c) + of_a + rest) ==
          Diamond::in_fork("dia_a", of_a, branch(c, c) + rest));
}

TEST_CASE("fork: a task that does not compute a memoized Func does not look it up") {
    auto memoized = [](const std::string &name, const std::string &production,
                       const std::string &consumer) {
        return "memoize " + name + "[int32] of (8, 8) by (p) {\n" + indented(production) +
               "} then {\n" + indented(consumer) + "}\n";
    };
    const std::string b = produce("dia_b", "1"), c = produce("dia_c", "dia_b(0, 0)");
    CHECK(Diamond().of_a(memoized("dia_b", b, of_a + c + rest)) ==
          Diamond::in_fork("dia_a", memoized("dia_b", b, of_a), memoized("dia_b", b, c + rest)));
    CHECK(Diamond().of_a(memoized("dia_e", produce("dia_e", "1"), c) + of_a + rest) ==
          Diamond::in_fork("dia_a", of_a, c + rest));
    CHECK(Diamond().of_a(memoized("dia_c", c, of_a + rest)) ==
          Diamond::in_fork("dia_a", of_a, memoized("dia_c", c, rest)));
}

TEST_CASE("fork: forks inside of a fork are taken apart where the Func is produced") {
    const std::string of_c = produce_async("dia_c", "dia_b(0, 0)"),
                      both = consume_async(
                          "dia_a",
                          consume_async("dia_c", "dia_out(0, 0) = dia_a(0, 0) + dia_c(0, 0)\n"));
    const std::string body = of_a + of_c + both;
    CHECK(Diamond().of_a(Diamond::in_fork("dia_c", body, body)) ==
          Diamond::in_fork("dia_a", of_a, Diamond::in_fork("dia_c", of_c, both)));
}

TEST_CASE("fork: a task waits for the async Funcs that it reads") {
    const std::string of_b = produce_async("dia_b", "1"), c = produce("dia_c", "dia_b(0, 0)");
    const std::string inner = of_b + consume_async("dia_b", of_a + c + rest);
    const std::string now =
        Diamond().of_a(realize("dia_b", realize("dia_c", Diamond::in_fork("dia_b", inner, inner))));
    CHECK(now ==
          Diamond::in_fork(
              "dia_a",
              realize("dia_b", realize("dia_c", Diamond::in_fork("dia_b", of_b,
                                                                 consume_async("dia_b", of_a)))),
              realize("dia_b",
                      realize("dia_c",
                              Diamond::in_fork("dia_b", of_b, consume_async("dia_b", c + rest))))));
    // Outside of the fork of a, its tasks would both take what b has made.
    require_message<CompileError>([&] { Diamond().of_a(consume_async("dia_b", of_a + c + rest)); },
                                  {"dia_a", "both read dia_b, which is waited for inside them"});
    // A task that has nothing to do there does not wait.
    CHECK(Diamond().of_a(realize("dia_b", consume_async("dia_b", of_a) + rest)) ==
          Diamond::in_fork("dia_a", realize("dia_b", consume_async("dia_b", of_a)),
                           realize("dia_b", rest)));
    CHECK(Diamond().of_a(consume_async("dia_c", of_a + rest)) ==
          Diamond::in_fork("dia_a", of_a, consume_async("dia_c", rest)));
    // Only one of them reads it.
    CHECK(Diamond().of_a(consume_async("dia_e", of_a + rest)) ==
          Diamond::in_fork("dia_a", consume_async("dia_e", of_a), rest));
    CHECK(Diamond().of_a(of_a + consume_async("dia_c", rest)) ==
          Diamond::in_fork("dia_a", of_a, consume_async("dia_c", rest)));
}
