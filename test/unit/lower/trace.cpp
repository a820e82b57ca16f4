#include "lower/trace.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "ir/print.h"
#include "language/freeze.h"
#include "support/parse_ir.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

const Var x("x");

std::string traced(const Func &output, const std::string &text, bool pipeline = false) {
    const language::Frozen frozen = language::freeze({output});
    return ir::to_string(lower::trace(parse_stmt(text, {{"loaded_g", Int(32)}}), frozen.graph,
                                      frozen.schedule, "pipe", pipeline));
}

}  // namespace

TEST_CASE("trace: nothing is traced, nothing changes") {
    Func f("plain_f");
    f(x) = x;
    const std::string text = "produce plain_f {\n"
                             "  for plain_f.s0.x in [0, 8) {\n"
                             "    plain_f(plain_f.s0.x) = plain_f.s0.x\n"
                             "  }\n"
                             "}\n";
    CHECK(traced(f, text) == text);
}

TEST_CASE("trace: a stored value passes through its event") {
    Func f("stored_f");
    f(x) = x;
    f.trace_stores();
    CHECK(traced(f, "produce stored_f {\n"
                    "  stored_f(x) = x * 2\n"
                    "}\n") ==
          "let pipeline.trace = trace(8, \"pipe\", \"\", 0, 0)\n"
          "produce stored_f {\n"
          "  stored_f(x) = trace_value(x * 2, 1, \"stored_f\", pipeline.trace, 0, x)\n"
          "}\n"
          "evaluate trace(9, \"pipe\", \"\", pipeline.trace, 0)\n");
}

TEST_CASE("trace: a loaded value passes through its event") {
    Func f("loading_f"), g("loaded_g");
    g(x) = x;
    f(x) = g(x);
    g.compute_root().trace_loads();
    CHECK(
        traced(f, "produce loading_f {\n"
                  "  loading_f(x) = loaded_g(x + 1)\n"
                  "}\n") ==
        "let pipeline.trace = trace(8, \"pipe\", \"\", 0, 0)\n"
        "produce loading_f {\n"
        "  loading_f(x) = trace_value(loaded_g(x + 1), 0, \"loaded_g\", pipeline.trace, 0, x + 1)\n"
        "}\n"
        "evaluate trace(9, \"pipe\", \"\", pipeline.trace, 0)\n");
}

TEST_CASE("trace: storage, production and consumption have begin and end events") {
    Func f("reader_f"), g("realized_g");
    g(x) = x;
    f(x) = g(x);
    g.compute_root().trace_realizations();
    CHECK(
        traced(f, "realize realized_g([0, 8)) of int32 {\n"
                  "  produce realized_g {\n"
                  "    realized_g(x) = x\n"
                  "  }\n"
                  "  consume realized_g {\n"
                  "    reader_f(x) = realized_g(x)\n"
                  "  }\n"
                  "}\n") ==
        "let pipeline.trace = trace(8, \"pipe\", \"\", 0, 0)\n"
        "realize realized_g([0, 8)) of int32 {\n"
        "  let realized_g.trace.0 = trace(2, \"realized_g\", \"\", pipeline.trace, 0, 0, 8)\n"
        "  {\n"
        "    let realized_g.trace.1 = trace(4, \"realized_g\", \"\", realized_g.trace.0, 0, 0, 8)\n"
        "    produce realized_g {\n"
        "      realized_g(x) = x\n"
        "    }\n"
        "    evaluate trace(5, \"realized_g\", \"\", realized_g.trace.1, 0, 0, 8)\n"
        "  }\n"
        "  {\n"
        "    let realized_g.trace.2 = trace(6, \"realized_g\", \"\", realized_g.trace.0, 0, 0, 8)\n"
        "    consume realized_g {\n"
        "      reader_f(x) = realized_g(x)\n"
        "    }\n"
        "    evaluate trace(7, \"realized_g\", \"\", realized_g.trace.2, 0, 0, 8)\n"
        "  }\n"
        "  evaluate trace(3, \"realized_g\", \"\", realized_g.trace.0, 0, 0, 8)\n"
        "}\n"
        "evaluate trace(9, \"pipe\", \"\", pipeline.trace, 0)\n");
}

TEST_CASE("trace: a pipeline's events lie behind the checks of its arguments") {
    Func f("whole_f");
    f(x) = x;
    CHECK(traced(f,
                 "assert 8 <= whole_f.extent.0, \"too small\"\n"
                 "produce whole_f {\n"
                 "  whole_f(x) = x\n"
                 "}\n",
                 true) == "assert 8 <= whole_f.extent.0, \"too small\"\n"
                          "let pipeline.trace = trace(8, \"pipe\", \"\", 0, 0)\n"
                          "produce whole_f {\n"
                          "  whole_f(x) = x\n"
                          "}\n"
                          "evaluate trace(9, \"pipe\", \"\", pipeline.trace, 0)\n");
}
