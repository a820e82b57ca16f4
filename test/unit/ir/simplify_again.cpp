// Nodes remember that the simplifier changes nothing in them: what that must not hide.
#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "ir/simplify.h"

using namespace Pipe;
using namespace Pipe::ir;

namespace {

Expr variable(const char *name) {
    return make_variable(Int(32), name);
}

}  // namespace

TEST_CASE("what was simplified already is simplified further by facts", "[simplify]") {
    const Expr x = variable("x"), y = variable("y"), least = make_binary(Op::Min, x, y);
    for (int i = 0; i < 3; i++)
        CHECK(simplify(least).same_as(least));
    Facts facts;
    facts.assume_non_negative(Linear::from_expr(make_binary(Op::Sub, y, x)));
    CHECK(simplify(least, facts).same_as(x));
    CHECK(simplify(least).same_as(least));
}

TEST_CASE("what was simplified already is simplified further inside of a let", "[simplify]") {
    const Expr x = variable("x"), y = variable("y"), least = make_binary(Op::Min, x, y);
    for (int i = 0; i < 3; i++)
        CHECK(simplify(least).same_as(least));
    const Expr let = make_let("y", make_binary(Op::Add, x, make_int(Int(32), 1)), least);
    CHECK(to_string(simplify(let)) == "x");
}

TEST_CASE("a long sum that was kept for others is taken apart once it has one user", "[simplify]") {
    const Expr a = variable("a");
    Expr sum = a;
    for (const char *name : {"b", "c", "d", "e", "f"})
        sum = make_binary(Op::Add, sum, variable(name));
    const Expr difference = make_binary(Op::Sub, sum, a);
    Expr other = make_binary(Op::Max, sum, variable("z"));
    sum = Expr();
    for (int i = 0; i < 3; i++)
        CHECK(to_string(simplify(difference)) == "a + b + c + d + e + f - a");
    other = Expr();
    CHECK(to_string(simplify(difference)) == "b + c + d + e + f");
}
