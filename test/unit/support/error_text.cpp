// Marked texts, and the fields that errors have of them.
#include <catch2/catch_test_macros.hpp>

#include "support/error.h"
#include "support/error_text.h"
#include <pipe/environment.h>

#include "set_variable.h"

using namespace Pipe;
using support::Field;
using support::marked;

namespace {

struct Reporter : CompileTimeErrorReporter {
    Reporter() { set_custom_compile_time_error_reporter(this); }
    ~Reporter() override { set_custom_compile_time_error_reporter(nullptr); }
    std::vector<std::string> errors, warnings;
    void warning(const char *message) override { warnings.push_back(message); }
    void error(const char *message) override { errors.push_back(message); }
};

}  // namespace

TEST_CASE("marks become fields and leave the text", "[support]") {
    const RuntimeError error(
        "Input " + marked(Field::Func, "in") + " is read from " +
        marked(Field::Needed, "-1 to 10") + " in dimension " + marked(Field::Dimension, 1) +
        ", but holds " + marked(Field::Given, "0..9") + ". Read by " +
        marked(Field::Func, "f.update(0)") + support::in_parentheses(SourceLocation()) + " (" +
        marked(Field::Place, "a:b.cpp:12") + ").");
    CHECK(std::string(error.what()) == "Input in is read from -1 to 10 in dimension 1, but holds "
                                       "0..9. Read by f.update(0) (a:b.cpp:12).");
    const ErrorDetails &d = error.details();
    CHECK(d.func == "in");
    CHECK(d.dimension == "1");
    CHECK(d.needed.text == "-1 to 10");
    CHECK(d.needed.min == -1);
    CHECK(d.needed.max == 10);
    CHECK(d.given.min == 0);
    CHECK(d.given.max == 9);
    CHECK(d.file == "a:b.cpp");
    CHECK(d.line == 12);
    const Error copy = error;
    CHECK(copy.details().func == "in");
}

TEST_CASE("a field that is not said is empty", "[support]") {
    const RuntimeError error("nothing is known");
    CHECK(error.details().func.empty());
    CHECK(error.details().dimension.empty());
    CHECK(error.details().needed.text.empty());
    CHECK_FALSE(error.details().needed.min);
    CHECK_FALSE(error.details().given.max);
    CHECK(error.details().file.empty());
    CHECK(error.details().line == 0);
}

TEST_CASE("what is no number is text only", "[support]") {
    for (const char *text : {"uint8", "3 dimensions", "any to 4", "4 to", "x"}) {
        const RuntimeError error(marked(Field::Needed, text));
        CHECK(error.details().needed.text == text);
        CHECK_FALSE(error.details().needed.min);
        CHECK_FALSE(error.details().needed.max);
    }
    const RuntimeError number(marked(Field::Given, int64_t{-7}));
    CHECK(number.details().given.min == -7);
    CHECK(number.details().given.max == -7);
}

TEST_CASE("the stage of a Func is no part of its name, and a near place only counts alone",
          "[support]") {
    CHECK(CompileError(marked(Field::Func, "f.update(0)")).details().func == "f");
    const std::string near = marked(Field::NearPlace, "near.cpp:3");
    CHECK(CompileError(near).details().file == "near.cpp");
    CHECK(CompileError(near + marked(Field::Place, "at.cpp:4")).details().file == "at.cpp");
}

TEST_CASE("a reporter is told without marks", "[support]") {
    Reporter reporter;
    CompileError error("In " + marked(Field::Func, "f"));
    REQUIRE(reporter.errors.size() == 1);
    CHECK(reporter.errors[0] == "In f");
    support::warn(marked(Field::Func, "g") + " is slow.");
    support::warn("g is slow.");
    CHECK(reporter.warnings == std::vector<std::string>{"g is slow.", "g is slow."});
}

TEST_CASE("a hint comes once, and not where hints are off", "[support]") {
    Reporter reporter;
    testing::SetVariable on("PIPE_HINTS", "1");
    set_hints(true);
    support::hint("first");
    support::hint("second");
    CHECK(reporter.warnings == std::vector<std::string>{"first"});
    {
        testing::SetVariable off("PIPE_HINTS", "0");
        set_hints(true);
        support::hint("third");
        CHECK(reporter.warnings.size() == 1);
    }
    testing::SetVariable none("PIPE_HINTS", "");
    set_hints(false);
    support::hint("fourth");
    CHECK(reporter.warnings.size() == 1);
    set_hints(true);
    support::hint("fifth");
    CHECK(reporter.warnings.back() == "fifth");
}
