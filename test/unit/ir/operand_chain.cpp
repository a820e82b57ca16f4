#include "ir/operand_chain.h"

#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"

using namespace Pipe;
using namespace Pipe::ir;

namespace {

Expr var(const char *name) {
    return make_variable(Int(32), name);
}

/// "operator: rest" around the variable p; "": none.
std::string rest(const Expr &e) {
    const auto chain =
        take_operand(e, [](const Expr &n) { return n->op == Op::Variable && n->name == "p"; });
    if (!chain)
        return "";
    CHECK(to_string(chain->special) == "p");
    const char *op = chain->op == Op::Add ? "+" : chain->op == Op::Min ? "min" : "max";
    return std::string(op) + ": " + to_string(chain->rest);
}

}  // namespace

TEST_CASE("one operand of a sum, minimum or maximum", "[operand_chain]") {
    const Expr p = var("p"), a = var("a"), b = var("b");
    CHECK(rest(add(p, a)) == "+: a");
    CHECK(rest(add(a, add(p, b))) == "+: b + a");
    CHECK(rest(sub(add(a, p), b)) == "+: a - b");
    CHECK(rest(sub(p, a)) == "+: 0 - a");
    CHECK(rest(min(a, min(b, p))) == "min: min(b, a)");
    CHECK(rest(max(p, a)) == "max: a");
}

TEST_CASE("an operand below another operation is not one of the sum", "[operand_chain]") {
    const Expr p = var("p"), a = var("a");
    CHECK(rest(p) == "");
    CHECK(rest(sub(a, p)) == "");
    CHECK(rest(add(a, mul(p, a))) == "");
    CHECK(rest(max(add(p, a), a)) == "");
    CHECK(rest(add(a, var("q"))) == "");
}
