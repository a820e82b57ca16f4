// Common subexpressions of statements; those of expressions are tested in simplify_rules.cpp.
#include "ir/cse.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "support/parse_ir.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

std::string shared(const std::string &text) {
    return ir::to_string(ir::cse(parse_stmt(text, {{"b", Bool()}})));
}

void check_unchanged(const std::string &text) {
    INFO(text);
    CHECK(shared(text) == text);
}

}  // namespace

TEST_CASE("cse: what a store computes twice, in its value or index, is bound around it") {
    CHECK(shared("out[x] = in[x] * in[x]\n") == "let t0 = in[x]\nout[x] = t0 * t0\n");
    CHECK(shared("out[x * y + z] = in[x * y + z]\n") == "let t0 = x * y + z\nout[t0] = in[t0]\n");
}

TEST_CASE("cse: in the value of a let, it is bound inside of that") {
    CHECK(shared("let v = in[x] * in[x]\nout[x] = v\n") ==
          "let v = let t0 = in[x] in t0 * t0\nout[x] = v\n");
}

TEST_CASE("cse: statements share nothing, as the first may change what the second one loads") {
    check_unchanged("out[x] = in[x * y + z]\nout[y] = in[x * y + z]\n");
}

TEST_CASE("cse: what is only computed under a condition stays there") {
    check_unchanged("out[x] = if_then_else(b, in[x], 0) + if_then_else(b, 0, in[x])\n");
    // The predicate says whether the element may be loaded.
    check_unchanged("out[in[x]] = in[x] + 1 if b\n");
    CHECK(shared("out[in[x]] = in[x] + 1\n") == "let t0 = in[x]\nout[t0] = t0 + 1\n");
}

TEST_CASE("cse: what an atomic store reads is not read before it") {
    check_unchanged("atomic out[x] = out[x] + in[y] * in[y]\n");
}

TEST_CASE("cse: what is as cheap as a variable, or has side effects, stays") {
    check_unchanged("out[x + 1] = in[x + 1] + (x + 1)\n");
    check_unchanged("out[x * y] = in[x * y]\n");
    check_unchanged("out[x] = print(\"v\", x) + print(\"v\", x)\n");
}
