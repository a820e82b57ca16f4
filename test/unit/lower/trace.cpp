#include "lower/trace.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "ir/print.h"
#include "language/freeze.h"
#include "support/parse_ir.h"
#include "unit/lower/nest_text.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

const Var x("x");

std::string traced(const Func &output, const std::string &text, bool pipeline = false) {
    const language::Frozen frozen = language::freeze({output});
    const Types called = {{"loaded_g", Int(32)}, {"other_g", Int(32)}, {"tuple_g", Int(32)}};
    return ir::to_string(
        lower::trace(parse_stmt(text, called), frozen.graph, frozen.schedule, "pipe", pipeline));
}

/// Inside the events of the pipeline.
std::string in_pipeline(const std::string &body) {
    return "let pipeline.trace = trace(8, \"pipe\", \"\", 0, 0)\n" + body +
           "evaluate trace(9, \"pipe\", \"\", pipeline.trace, 0)\n";
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

TEST_CASE("trace: of a Tuple, each value has its event with its number") {
    Func f("tuple_f"), g("tuple_g");
    g(x) = Tuple(x, x + 1);
    f(x) = Tuple(g(x)[0], g(x)[1]);
    f.trace_stores();
    g.compute_root().trace_loads();
    CHECK(traced(f, "tuple_f(x) = (tuple_g(x), tuple_g(x)[1])\n") ==
          in_pipeline("tuple_f(x) = ("
                      "trace_value(trace_value(tuple_g(x), 0, \"tuple_g\", pipeline.trace, 0, "
                      "x), 1, \"tuple_f\", pipeline.trace, 0, x), "
                      "trace_value(trace_value(tuple_g(x)[1], 0, \"tuple_g\", pipeline.trace, 1, "
                      "x), 1, \"tuple_f\", pipeline.trace, 1, x))\n"));
}

TEST_CASE("trace: stores, loads and realizations of one Func are traced without those of others") {
    Func f("one_f"), g("loaded_g"), h("other_g");
    g(x) = x;
    h(x) = x;
    f(x) = g(x) + h(x);
    g.compute_root().trace_loads();
    h.compute_root().trace_stores();
    CHECK(
        traced(f, "realize loaded_g([0, 8)) of int32 {\n"
                  "  produce loaded_g {\n"
                  "    loaded_g(x) = x\n"
                  "  }\n"
                  "  produce other_g {\n"
                  "    other_g(x) = abs(x)\n"
                  "  }\n"
                  "  one_f(x) = loaded_g(x) + other_g(x)\n"
                  "}\n") ==
        in_pipeline("realize loaded_g([0, 8)) of int32 {\n"
                    "  produce loaded_g {\n"
                    "    loaded_g(x) = x\n"
                    "  }\n"
                    "  produce other_g {\n"
                    "    other_g(x) = trace_value(abs(x), 1, \"other_g\", pipeline.trace, 0, x)\n"
                    "  }\n"
                    "  one_f(x) = trace_value(loaded_g(x), 0, \"loaded_g\", pipeline.trace, 0, x) "
                    "+ other_g(x)\n"
                    "}\n"));
}

TEST_CASE("trace: the parent of an event is the innermost one around of its Func") {
    Func f("inner_f"), g("loaded_g");
    g(x) = x;
    f(x) = g(x);
    g.compute_root().trace_realizations().trace_loads();
    // The loads before and behind the storage have the pipeline for their parent, whoever shares their nodes.
    const ir::Stmt load = parse_stmt("inner_f(x) = loaded_g(x)\n", {{"loaded_g", Int(32)}}),
                   realize =
                       ir::make_realize("loaded_g", {Int(32)}, {0, 8}, MemoryType::Auto, load);
    const language::Frozen frozen = language::freeze({f});
    auto event = [](const std::string &parent) {
        return "inner_f(x) = trace_value(loaded_g(x), 0, \"loaded_g\", " + parent + ", 0, x)\n";
    };
    CHECK(ir::to_string(lower::trace(ir::make_block({load, realize, load}), frozen.graph,
                                     frozen.schedule, "pipe", false)) ==
          in_pipeline(event("pipeline.trace") +
                      "realize loaded_g([0, 8)) of int32 {\n"
                      "  let loaded_g.trace.0 = trace(2, \"loaded_g\", \"\", pipeline.trace, 0, 0, "
                      "8)\n"
                      "  " +
                      event("loaded_g.trace.0") +
                      "  evaluate trace(3, \"loaded_g\", \"\", loaded_g.trace.0, 0, 0, 8)\n"
                      "}\n" +
                      event("pipeline.trace")));
}

TEST_CASE(
    "trace: what follows on the last production of a Func, to the end of the block, consumes it") {
    Func f("inner_f"), g("loaded_g");
    g(x) = x;
    f(x) = g(x);
    g.compute_root().trace_realizations();
    auto produced = [](int n) {
        const std::string name = "loaded_g.trace." + std::to_string(n);
        return "{\n"
               "  let " +
               name +
               " = trace(4, \"loaded_g\", \"\", pipeline.trace, 0)\n"
               "  produce loaded_g {\n"
               "    loaded_g(x) = x\n"
               "  }\n"
               "  evaluate trace(5, \"loaded_g\", \"\", " +
               name +
               ", 0)\n"
               "}\n";
    };
    const std::string production = "produce loaded_g {\n  loaded_g(x) = x\n}\n",
                      other = "produce other_g {\n  other_g(x) = 1\n}\n";
    CHECK(traced(f, other + production + "inner_f(x) = 1\n" + production + "inner_f(x) = 2\n" +
                        other) ==
          in_pipeline(other + produced(0) + "inner_f(x) = 1\n" + produced(1) +
                      "{\n"
                      "  let loaded_g.trace.2 = trace(6, \"loaded_g\", \"\", pipeline.trace, 0)\n"
                      "  inner_f(x) = 2\n"
                      "  produce other_g {\n    other_g(x) = 1\n  }\n"
                      "  evaluate trace(7, \"loaded_g\", \"\", loaded_g.trace.2, 0)\n"
                      "}\n"));
    // Nothing follows; and the size is that of the storage around.
    CHECK(traced(f, "realize loaded_g([0, 8)) of int32 {\n  inner_f(x) = 1\n}\n" + production)
              .find("trace(4, \"loaded_g\", \"\", pipeline.trace, 0)") != std::string::npos);
    CHECK(traced(f, "inner_f(x) = 1\n" + production) ==
          in_pipeline("inner_f(x) = 1\n" + produced(0)));
}

TEST_CASE("trace: an output has its storage all the time, an element of a Tuple its size") {
    Func f("whole_f"), g("other_g");
    g(x) = x;
    f(x) = Tuple(x, x);
    f.trace_realizations();
    CHECK(traced(f, "whole_f(x) = (x, x)\n") ==
          in_pipeline("{\n"
                      "  let whole_f.trace.0 = trace(2, \"whole_f\", \"\", pipeline.trace, 0, "
                      "whole_f.0.min.0, whole_f.0.extent.0)\n"
                      "  whole_f(x) = (x, x)\n"
                      "  evaluate trace(3, \"whole_f\", \"\", whole_f.trace.0, 0, whole_f.0.min.0, "
                      "whole_f.0.extent.0)\n"
                      "}\n"));
    // Its production has the same size.
    CHECK(traced(f, "produce whole_f {\n  whole_f(x) = (x, x)\n}\n")
              .find("trace(4, \"whole_f\", \"\", whole_f.trace.0, 0, whole_f.0.min.0, "
                    "whole_f.0.extent.0)") != std::string::npos);
}

TEST_CASE("trace: of a memoized Func, the production has events where it happens") {
    Func f("inner_f"), g("loaded_g");
    g(x) = x;
    f(x) = g(x);
    g.compute_root().memoize().trace_realizations();
    auto memoized = [](const std::string &production, const std::string &consumer) {
        return "memoize loaded_g[int32] of (m, 8) by (p) {\n" + indented(production) +
               "} then {\n" + indented(consumer) + "}\n";
    };
    const std::string production = "produce loaded_g {\n  loaded_g(x) = x\n}\n",
                      consumer = "inner_f(x) = loaded_g(x)\n";
    // `body` between the events `code` and `code` + 1 for a box.
    auto between = [](int n, int code, const std::string &box, const std::string &parent,
                      const std::string &body) {
        const std::string name = "loaded_g.trace." + std::to_string(n),
                          event = ", \"loaded_g\", \"\", ";
        return "let " + name + " = trace(" + std::to_string(code) + event + parent + ", 0" + box +
               ")\n" + body + "evaluate trace(" + std::to_string(code + 1) + event + name + ", 0" +
               box + ")\n";
    };
    const std::string outer = "loaded_g.trace.0", box = ", m, 8";
    CHECK(traced(f, memoized(production, consumer) + production) ==
          in_pipeline("{\n" +
                      indented(between(0, 2, box, "pipeline.trace",
                                       memoized(between(1, 4, box, outer, production),
                                                between(2, 6, box, outer, consumer)))) +
                      "}\n{\n" + indented(between(3, 4, "", "pipeline.trace", production)) +
                      "}\n"));
}

TEST_CASE("trace: what is loaded of an image has its event") {
    ImageParam in(Int(32), 1, "traced_in");
    Func f("image_f");
    f(x) = in(x);
    in.trace_loads();
    const language::Frozen frozen = language::freeze({f});
    auto provide = [](ir::CallKind kind) {
        const Expr x = ir::make_variable(Int(32), "x");
        return ir::make_provide("image_f", {x}, {ir::make_call(Int(32), "traced_in", {x}, kind)});
    };
    auto now = [&](const ir::Stmt &s) {
        return ir::to_string(lower::trace(s, frozen.graph, frozen.schedule, "pipe", false));
    };
    CHECK(now(provide(ir::CallKind::Image)) ==
          in_pipeline(
              "image_f(x) = trace_value(traced_in(x), 0, \"traced_in\", pipeline.trace, 0, x)\n"));
    // The image as a whole, for a C function, is no element.
    const ir::Stmt whole =
        ir::make_evaluate(ir::make_call(Handle(), "traced_in", {}, ir::CallKind::Image));
    CHECK(now(whole) == in_pipeline(ir::to_string(whole)));
    // A C function may have the same name.
    CHECK(now(provide(ir::CallKind::PureExtern)) == in_pipeline("image_f(x) = traced_in(x)\n"));
}

TEST_CASE("trace: the tags of Funcs and images come first") {
    ImageParam in(Int(32), 1, "tagged_in");
    Func f("tagged_f");
    f(x) = in(x);
    f.add_trace_tag("of the Func");
    in.add_trace_tag("of the image");
    CHECK(traced(f, "tagged_f(x) = x\n") ==
          in_pipeline("evaluate trace(10, \"tagged_f\", \"of the Func\", pipeline.trace, 0)\n"
                      "evaluate trace(10, \"tagged_in\", \"of the image\", pipeline.trace, 0)\n"
                      "tagged_f(x) = x\n"));
}

TEST_CASE("trace: checks stand first, however lets divide them, and may be all there is") {
    Func f("whole_f");
    f(x) = x;
    const std::string checks = "assert 8 <= whole_f.extent.0, \"too small\"\n";
    CHECK(traced(f, "let e = 8\n" + checks + "let m = 1\n" + checks + "whole_f(m) = 1\n", true) ==
          "let e = 8\n" + checks + "let m = 1\n" + checks + in_pipeline("whole_f(m) = 1\n"));
    CHECK(traced(f, "let e = 8\nwhole_f(e) = 1\n", true) ==
          "let e = 8\n" + in_pipeline("whole_f(e) = 1\n"));
    // Behind a statement, lets belong to the pipeline.
    CHECK(traced(f, "whole_f(0) = 1\nlet m = 1\n" + checks, true) ==
          in_pipeline("whole_f(0) = 1\n{\n  let m = 1\n  " + checks + "}\n"));
    CHECK(traced(f, checks + checks, true) == checks + checks);
}
