// Misuse of a Callable reaches custom_error handlers; Buffers as Arguments.
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "test/support/require_message.h"

using namespace Pipe;

namespace {

Var x("x");
std::string told;

struct Reporting {
    JITUserContext context;
    Reporting() {
        told.clear();
        context.handlers.custom_error = [](JITUserContext *, const char *message) {
            told = message;
        };
    }
};

Func sum_of(const Buffer<int> &table, const Param<int> &p) {
    Func f("f");
    f(x) = table(x) + p;
    return f;
}

}  // namespace

TEST_CASE("what is wrong with the arguments is told to custom_error", "[callable]") {
    Param<int> p("p");
    Func f = sum_of(Buffer<int>(4), p);
    Callable call = f.compile_to_callable({p});
    Buffer<int> out(4);
    SECTION("thrown where there is no handler") {
        require_message<RuntimeError>([&] { call(2.5f, out); }, {"argument 0 ('p')", "float32"});
        require_message<RuntimeError>([&] { call(out); }, {"takes 2 arguments", "given 1"});
    }
    SECTION("a handler of the call") {
        Reporting reporting;
        JITUserContext *context = &reporting.context;
        CHECK(call(context, 2.5f, out) != 0);
        CHECK(told.find("argument 0 ('p')") != std::string::npos);
        CHECK(call(context, out) != 0);
        CHECK(told.find("takes 2 arguments") != std::string::npos);
        CHECK(call(context, 1, 2) != 0);
        CHECK(told.find("argument 1 ('f')") != std::string::npos);
        told.clear();
        CHECK(call(context, 1, out) == 0);
        CHECK(told.empty());
    }
    SECTION("a handler of the pipeline") {
        told.clear();
        f.jit_handlers().custom_error = [](JITUserContext *, const char *message) {
            told = message;
        };
        CHECK(f.compile_to_callable({p})(2.5, out) != 0);
        CHECK(told.find("float64") != std::string::npos);
    }
}

TEST_CASE("a Buffer as an Argument is given with each call", "[callable]") {
    Buffer<int> table(4, "table"), other(4), out(4);
    table.fill(10);
    other.fill(20);
    Param<int> p("p");
    Func f = sum_of(table, p);
    Argument argument(table);
    CHECK(argument.name == "table");
    CHECK(argument.kind == Argument::InputBuffer);
    CHECK(argument.type == Int(32));
    CHECK(argument.dimensions == 1);

    Callable both = f.compile_to_callable({table, p});
    REQUIRE(both.arguments().size() == 3);
    both(other, 1, out);
    CHECK(out.all_equal(21));
    both(table, 2, out);
    CHECK(out.all_equal(12));
    Callable bound = f.compile_to_callable({p});
    bound(3, out);
    CHECK(out.all_equal(13));
}

TEST_CASE("an Argument by the name of a Buffer", "[callable]") {
    Buffer<int> table(4, "table"), other(4), out(4);
    other.fill(5);
    Param<int> p("p");
    Callable call = sum_of(table, p).compile_to_callable(
        {Argument("table", Argument::InputBuffer, Int(32), 1), p});
    call(other, 1, out);
    CHECK(out.all_equal(6));
}
