#include "lower/gpu/unused_reads.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "support/parse_ir.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

const Types types = {{"f", Int(32)}, {"g", Int(32)}, {"p", Bool()}, {"mask", Bool(4)}};

/// A program in which f is computed where f.used holds, and `loop` reads it.
std::string program(const std::string &loop, const std::string &condition = "f.used") {
    return "let " + condition +
           " = p\n"
           "realize f([0, 8)) of int32 {\n"
           "  produce f {\n"
           "    if " +
           condition +
           " {\n"
           "      f(0) = 1\n"
           "    }\n"
           "  }\n" +
           loop + "}\n";
}

/// out(x) = value in a loop of some kind.
std::string loop(const std::string &kind, const std::string &value) {
    return "  for x in [0, 8)" + kind + " {\n    out(x) = " + value + "\n  }\n";
}

std::string guarded(const std::string &text) {
    return ir::to_string(lower::guard_unused_reads(parse_stmt(text, types)));
}

void check_unchanged(const std::string &text) {
    CHECK(guarded(text) == text);
}

}  // namespace

TEST_CASE("unused reads: a kernel reads a skipped Func only where its value is chosen", "[gpu]") {
    for (const char *kind : {" gpu_thread", " gpu_block"})
        CHECK(guarded(program(loop(kind, "select(p, f(x), 0)"))) ==
              program(loop(kind, "if_then_else(p, f(x), 0)")));
    CHECK(guarded(program(loop(" gpu_thread", "select(p, 0, f(x) * 2) + 1"))) ==
          program(loop(" gpu_thread", "if_then_else(p, 0, f(x) * 2) + 1")));
}

TEST_CASE("unused reads: on the CPU, a load whose value is not chosen does no harm", "[gpu]") {
    check_unchanged(program(loop("", "select(p, f(x), 0)")));
    check_unchanged(program(loop(" parallel", "select(p, f(x), 0)")));
    // A kernel in the program changes nothing for the loops behind it.
    const std::string kernel = loop(" gpu_thread", "select(p, f(x), 0)"),
                      host = loop("", "select(p, f(x), 0)");
    CHECK(guarded(program(kernel + host)) ==
          program(loop(" gpu_thread", "if_then_else(p, f(x), 0)") + host));
}

TEST_CASE("unused reads: a select stays that reads no skipped Func", "[gpu]") {
    check_unchanged(program(loop(" gpu_thread", "select(p, g(x), 0)")));
    check_unchanged(program(loop(" gpu_thread", "select(p, f(x), 0)"), "g.used"));
    check_unchanged(program(loop(" gpu_thread", "select(p, f(x), 0)"), "other"));
}

TEST_CASE("unused reads: a select by lanes stays, which needs both of its operands", "[gpu]") {
    check_unchanged(program(loop(" gpu_thread", "reduce<+>(select(mask, broadcast(f(x), 4), "
                                                "broadcast(0, 4)), 1)")));
}
