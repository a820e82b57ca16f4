// Names that tell things apart: Funcs of one name, unnamed Funcs, Vars and RDoms.
#include <catch2/catch_test_macros.hpp>

#include <sstream>

#include <pipe/pipe.h>
#include <pipe/stream.h>

#include "test/support/require_message.h"

using namespace Pipe;

namespace {

Var x("x"), y("y");

bool contains(const std::string &text, const std::string &part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

template <typename T> std::string printed(const T &value) {
    std::ostringstream out;
    out << value;
    return out.str();
}

}  // namespace

TEST_CASE("Funcs of one name have names of their own, as long as they live", "[names]") {
    Func f("same"), g("same");
    CHECK(f.name() == "same");
    CHECK(g.name() == "same$1");
    {
        Func h("same");
        CHECK(h.name() == "same$2");
    }
    f = Func();
    CHECK(Func("same").name() == "same");
    CHECK(Func("same$1").name() != "same$1");
    Func unnamed, other;
    CHECK(unnamed.name() != other.name());
}

TEST_CASE("errors and loops tell Funcs of one name apart", "[names]") {
    Func f("f"), g("f"), out("out");
    f(x) = x;
    g(x) = f(x) + f(x + 1);
    out(x) = g(x) + g(x + 1);
    require_message<CompileError>([&] { f.parallel(y); }, {"f.parallel(y)"});
    require_message<CompileError>([&] { g.parallel(y); }, {"f$1.parallel(y)"});
    f.compute_root();
    g.compute_at(out, x);
    std::string nest = Pipeline(out).loop_nest();
    CHECK(contains(nest, "produce f:"));
    CHECK(contains(nest, "produce f$1:"));
    g.compute_at(out, y);
    require_message<CompileError>([&] { out.realize({4}); }, {"f$1.compute_at(out, y)"});
}

TEST_CASE("the schedule as C++ finds Funcs that no name stands for", "[names]") {
    auto build = [](const std::string &a, const std::string &b) {
        Func f = a.empty() ? Func() : Func(a), g(b), out("out");
        f(x) = x;
        g(x) = f(x) + f(x + 1);
        out(x) = g(x) + g(x + 1);
        f.compute_root();
        g.compute_root().parallel(x);
        return Pipeline(out);
    };
    SECTION("names of their own") {
        std::string source = build("f", "g").schedule_source();
        CHECK(contains(source, "g\n    .compute_root()"));
        CHECK_FALSE(contains(source, "get_func"));
    }
    SECTION("a second pipeline beside the first") {
        Pipeline first = build("f", "g");
        CHECK(first.schedule_source() == build("f", "g").schedule_source());
    }
    SECTION("one name") {
        std::string source = build("f", "f").schedule_source();
        CHECK(contains(source, "Func f = pipeline.get_func(0);"));
        CHECK(contains(source, "Func f_1 = pipeline.get_func(1);"));
        CHECK(contains(source, "f_1\n    .compute_root()"));
    }
    SECTION("no name") {
        std::string source = build("", "g").schedule_source();
        CHECK(contains(source, "= pipeline.get_func(0);"));
    }
}

TEST_CASE("unnamed Vars print as different names", "[names]") {
    Var a, b, c;
    CHECK(printed(a) != printed(b));
    CHECK(printed(a + b) == a.name() + " + " + b.name());
    Func f("f");
    f(a, b) = a + 2 * b;
    require_message<CompileError>([&] { f.parallel(c); },
                                  {"no loop '" + c.name() + "'", a.name() + ", " + b.name()});
    CHECK(contains(Pipeline(f).loop_nest(), "f(" + a.name() + ", " + b.name() + ") ="));
    RDom r(0, 4), s(0, 5);
    CHECK(printed(RVar(r)) != printed(RVar(s)));
}

TEST_CASE("what is undefined prints as that", "[names]") {
    CHECK(printed(RDom()) == "undefined RDom");
    CHECK(printed(Expr()) == "(undefined)");
    CHECK(printed(Type()) == "undefined type");
    CHECK(printed(LoopLevel()) == "undefined");
    CHECK_FALSE(printed(RVar()).empty());
}

TEST_CASE("extern stages by the number of dimensions have implicit Vars", "[names]") {
    Func f("f");
    f.define_extern("anything", {}, Int(32), 2);
    REQUIRE(f.args().size() == 2);
    CHECK(f.args()[0].name() == "_0");
    CHECK(f.args()[1].name() == "_1");
}
