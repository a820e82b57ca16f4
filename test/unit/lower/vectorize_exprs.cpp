// What vectorize_loops makes of expressions: conditions inside of them, loads, and phases.
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/intrinsics.h"
#include "ir/print.h"
#include "lower/vectorize_loops.h"
#include "support/parse_ir.h"
#include "unit/lower/nest_text.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

const Types types = {{"flag", Bool()}};

std::string vectorized(const ir::Stmt &s) {
    return ir::to_string(lower::vectorize_loops(s));
}

/// What `body` is for `lanes` lanes.
std::string vectorized(const std::string &body, int lanes = 4) {
    return vectorized(
        parse_stmt(around("for x in [0, " + std::to_string(lanes) + ") vectorized", body), types));
}

/// out[x] = value
void check(const std::string &value, const std::string &expected) {
    CHECK(vectorized("out[x] = " + value + "\n") == "out[ramp(0, 1, 4)] = " + expected + "\n");
}
bool has_phases(const std::string &body, int lanes = 4) {
    const std::string text = vectorized(body, lanes);
    INFO(text);
    return text.find("interleave(") != std::string::npos;
}

const std::string below_3 = "in[ramp(0, 1, 4)] < broadcast(3, 4)",
                  not_below_3 = "!(" + below_3 + ")";

}  // namespace

TEST_CASE("vectorize: of if_then_else, each arm loads where it is chosen") {
    check("if_then_else(in[x] < 3, a[x], c[x])", "select(" + below_3 + ", a[ramp(0, 1, 4) if " +
                                                     below_3 + "], c[ramp(0, 1, 4) if " +
                                                     not_below_3 + "])");
    // Also what all lanes load; behind it, all is loaded as before.
    check("if_then_else(in[x] < 3, a[k], 0) + a[k]",
          "select(" + below_3 + ", a[broadcast(k, 4) if " + below_3 +
              "], broadcast(0, 4)) + broadcast(a[k], 4)");
    check("if_then_else(flag, a[x], 0)",
          "select(flag, a[ramp(0, 1, 4) if broadcast(flag, 4)], broadcast(0, 4))");
    check("if_then_else(in[x] < 3, if_then_else(flag, a[x], 0), 0)",
          "select(" + below_3 + ", select(flag, a[ramp(0, 1, 4) if " + below_3 +
              " && broadcast(flag, 4)], broadcast(0, 4)), broadcast(0, 4))");
    CHECK(vectorized("if g[x] < 2 {\n  out[x] = if_then_else(in[x] < 3, a[x], 0)\n}\n") ==
          "let x.mask = g[ramp(0, 1, 4)] < broadcast(2, 4)\n"
          "out[ramp(0, 1, 4)] = select(in[ramp(0, 1, 4) if x.mask] < broadcast(3, 4), "
          "a[ramp(0, 1, 4) if x.mask && in[ramp(0, 1, 4) if x.mask] < broadcast(3, 4)], "
          "broadcast(0, 4)) if x.mask\n");
}

TEST_CASE(
    "vectorize: what both arms of if_then_else load is loaded once, under neither condition") {
    const Expr x = ir::make_variable(Int(32), "x"), shared = parse_expr("a[x + 1]");
    auto arms = [&](const Expr &t, const Expr &f) {
        const Expr value = ir::make_call(Int(32), ir::intrinsic::if_then_else,
                                         {parse_expr("in[x] < 3"), t, f}, ir::CallKind::Intrinsic);
        return vectorized(ir::make_for("x", ir::make_int(Int(32), 0), ir::make_int(Int(32), 4),
                                       LoopKind::Vectorized, ir::make_store("out", x, value)));
    };
    const Expr one = ir::make_int(Int(32), 1);
    CHECK(
        arms(ir::make_binary(ir::Op::Add, shared, one), ir::make_binary(ir::Op::Mul, x, shared)) ==
        "out[ramp(0, 1, 4)] = select(" + below_3 +
            ", a[ramp(1, 1, 4)] + broadcast(1, 4), ramp(0, 1, 4) * a[ramp(1, 1, 4)])\n");
    // Not what one of them loads under another condition, or with a name of its own.
    const Expr again =
        ir::make_call(Int(32), ir::intrinsic::if_then_else, {parse_expr("g[x] < 3"), shared, one},
                      ir::CallKind::Intrinsic);
    CHECK(arms(again, shared).find("a[ramp(1, 1, 4)]") == std::string::npos);
    const Expr named = ir::make_let("y", one, shared);
    CHECK(arms(named, shared).find("a[ramp(1, 1, 4)]") == std::string::npos);
    CHECK(arms(ir::make_load(Int(32), "b", one, ir::make_binary(ir::Op::LT, shared, one)), shared)
              .find("a[ramp(1, 1, 4)]") != std::string::npos);
}

TEST_CASE("vectorize: a node that is shared has the meaning of the place where it is used") {
    const Expr of_lane = parse_expr("in[x]");
    auto in_loop = [](const ir::Stmt &body) {
        return vectorized(ir::make_for("x", ir::make_int(Int(32), 0), ir::make_int(Int(32), 4),
                                       LoopKind::Vectorized, body));
    };
    auto stored = [&](const Expr &value) {
        return in_loop(ir::make_store("out", parse_expr("x"), value));
    };
    auto sum = [](const Expr &a, const Expr &b) { return ir::make_binary(ir::Op::Add, a, b); };
    const Expr load = parse_expr("a[y]"), half = parse_expr("a[(x + y) / 2]");
    for (const Expr &e : {load, half}) {
        // Inside and outside of a let, and the other way round.
        const Expr inner = ir::make_let("y", of_lane, e);
        const Expr copy = parse_expr(ir::to_string(e)), copied = parse_expr(ir::to_string(inner));
        CHECK(stored(sum(e, inner)) == stored(sum(copy, copied)));
        CHECK(stored(sum(inner, e)) == stored(sum(copied, copy)));
        // Under a condition and under none.
        const std::string chosen = "if_then_else(in[x] < 3, " + ir::to_string(e) + ", 0)";
        const Expr shared = ir::make_call(Int(32), ir::intrinsic::if_then_else,
                                          {parse_expr("in[x] < 3"), e, ir::make_int(Int(32), 0)},
                                          ir::CallKind::Intrinsic);
        CHECK(stored(sum(shared, e)) == stored(sum(parse_expr(chosen), copy)));
        // In two statements.
        auto twice = [&](const Expr &first, const Expr &second) {
            const Expr x = parse_expr("x");
            return in_loop(
                ir::make_block({ir::make_let("y", parse_expr("k"), ir::make_store("out", x, first)),
                                ir::make_let("y", of_lane, ir::make_store("out", x, second))}));
        };
        CHECK(twice(e, e) == twice(copy, parse_expr(ir::to_string(e))));
    }
}

TEST_CASE("vectorize: in an expression, names hide those outside") {
    check("(let y = in[x] in y + a[y]) + y",
          "(let y.v = in[ramp(0, 1, 4)] in y.v + a[y.v]) + broadcast(y, 4)");
    check("let y = in[k] in y + x", "let y = in[k] in ramp(y, 1, 4)");
}

TEST_CASE("vectorize: a promise of a vector is forgotten: it hides that lanes are neighbors") {
    check("in[promise_clamped(x, 0, 9)] + promise_clamped(k, 0, 9)",
          "in[ramp(0, 1, 4)] + broadcast(promise_clamped(k, 0, 9), 4)");
}

TEST_CASE("vectorize: predicates of loads") {
    check("a[x if x < n]", "a[ramp(0, 1, 4) if ramp(0, 1, 4) < broadcast(n, 4)]");
    check("a[0 if x < n]", "a[broadcast(0, 4) if ramp(0, 1, 4) < broadcast(n, 4)]");
    check("a[0 if flag]", "broadcast(a[0 if flag], 4)");
    CHECK(vectorized("if in[x] < 3 {\n  out[x] = a[x if x < n]\n}\n") ==
          "let x.mask = " + below_3 + "\n" +
              "out[ramp(0, 1, 4)] = a[ramp(0, 1, 4) if x.mask && ramp(0, 1, 4) < broadcast(n, 4)] "
              "if x.mask\n");
    CHECK(
        vectorized("if in[x] < 3 {\n  out[x] = a[0 if x < n]\n}\n") ==
        "let x.mask = " + below_3 + "\n" +
            "out[ramp(0, 1, 4)] = a[broadcast(0, 4) if x.mask && ramp(0, 1, 4) < broadcast(n, 4)] "
            "if x.mask\n");
    CHECK(vectorized("if in[x] < 3 {\n  out[x] = a[0 if flag]\n}\n") ==
          "let x.mask = " + below_3 + "\n" +
              "if reduce<||>(x.mask, 1) {\n"
              "  out[ramp(0, 1, 4)] = broadcast(a[0 if flag], 4) if x.mask\n"
              "}\n");
}

TEST_CASE("vectorize: phases of at least two lanes, whose number divides the lanes") {
    const std::string half = "out[x] = a[x / 2]\n", third = "out[x] = a[x / 3]\n";
    CHECK(has_phases(half, 4));
    CHECK_FALSE(has_phases(half, 2));
    CHECK_FALSE(has_phases(half, 3));
    CHECK_FALSE(has_phases(third, 4));
    CHECK_FALSE(has_phases(third, 8));
    CHECK(has_phases(third, 6));
}

TEST_CASE("vectorize: no phases in an arm, in arrays of lanes, and under a condition on memory") {
    CHECK_FALSE(has_phases("out[x] = if_then_else(in[x] < 3, a[x / 2], 0)\n"));
    CHECK(has_phases("out[x] = if_then_else(in[x] < 3, a[x], 0) + a[x / 2]\n"));
    CHECK_FALSE(has_phases("allocate t[int32 * 2] {\n  t[0] = x\n  out[x] = t[x / 2]\n}\n"));
    CHECK_FALSE(has_phases("if in[x] < 3 {\n  out[x] = a[x / 2]\n}\n"));
    CHECK(has_phases("if flag {\n  out[x] = a[x / 2]\n}\n"));
    CHECK(has_phases("let v = in[x]\nif x < n {\n  out[x] = a[x / 2]\n}\n"));
    CHECK_FALSE(has_phases("let v = in[x]\nif v < n {\n  out[x] = a[x / 2]\n}\n"));
}

TEST_CASE("vectorize: in phases, names that advance evenly advance by as many lanes as there are "
          "phases") {
    CHECK(vectorized("let y = x * 2 + k\nout[x] = a[y / 4]\n") ==
          "let y.v = ramp(k, 2, 4)\n"
          "out[ramp(0, 1, 4)] = interleave(a[ramp(k / 4, 1, 2)], a[ramp((k + 2) / 4, 1, 2)], 4)\n");
    CHECK(has_phases("for y in [0, n) {\n  out[x + y * 4] = a[x / 2 + y]\n}\n"));
    // Each phase would evaluate where they begin.
    CHECK_FALSE(has_phases("let y = x + in[k]\nout[x] = a[y / 2]\n"));
    // A condition has the meaning that its names have where it stands.
    CHECK(has_phases("if x < n {\n  let y = x * 3\n  out[y] = a[x / 2]\n}\n"));
    CHECK_FALSE(has_phases("let y = x + k\nif y < n {\n  let y = x * 3\n  out[y] = a[x / 2]\n}\n"));
    // What is loaded under a mask in each phase is masked in each phase.
    CHECK(vectorized("if x < n {\n  out[x] = a[x / 2] + a[0]\n}\n") ==
          "let x.mask = ramp(0, 1, 4) < broadcast(n, 4)\n"
          "out[ramp(0, 1, 4)] = interleave("
          "a[ramp(0, 1, 2) if ramp(0, 2, 2) < broadcast(n, 2)] + "
          "a[broadcast(0, 2) if ramp(0, 2, 2) < broadcast(n, 2)], "
          "a[ramp(0, 1, 2) if ramp(1, 2, 2) < broadcast(n, 2)] + "
          "a[broadcast(0, 2) if ramp(1, 2, 2) < broadcast(n, 2)], 4) if x.mask\n");
}
