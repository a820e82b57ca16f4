#include "lower/undef.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "support/parse_ir.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

/// "value if condition"; "nothing".
std::string stored(const std::string &text) {
    const lower::Stored result =
        lower::without_undef(parse_expr(text, {{"b", Bool()}, {"c", Bool()}}));
    if (!result.value.defined())
        return "nothing";
    const std::string value = ir::to_string(result.value);
    return result.condition.defined() ? value + " if " + ir::to_string(result.condition) : value;
}

}  // namespace

TEST_CASE("undef: nothing is stored of a value that depends on it") {
    CHECK(stored("undef()") == "nothing");
    CHECK(stored("undef() * 2 + x") == "nothing");
    CHECK(stored("in[undef()]") == "nothing");
    CHECK(stored("select(undef() < 3, x, y)") == "nothing");
    CHECK(stored("select(b, undef(), undef() + 1)") == "nothing");
}

TEST_CASE("undef: of a select, the other arm is stored where it is chosen") {
    CHECK(stored("select(b, x, undef())") == "x if b");
    CHECK(stored("select(b, undef() + 1, x)") == "x if !b");
    CHECK(stored("if_then_else(b, x, undef())") == "x if b");
}

TEST_CASE("undef: the conditions of several selects are combined") {
    CHECK(stored("select(b, select(c, x, undef()), undef())") == "x if b && c");
    CHECK(stored("select(b, x, undef()) + select(c, y, undef())") == "x + y if b && c");
    CHECK(stored("select(b, select(c, x, undef()), y)") == "select(b, x, y) if b && c || !b");
}

TEST_CASE("undef: a value without it is the same node") {
    for (const char *text : {"x + 1", "select(b, x, y)", "in[x] * in[x]"}) {
        const Expr before = parse_expr(text, {{"b", Bool()}});
        const lower::Stored after = lower::without_undef(before);
        INFO(text);
        CHECK(after.value.same_as(before));
        CHECK_FALSE(after.condition.defined());
    }
}
