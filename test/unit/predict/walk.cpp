// Programs in numbers.
#include <chrono>

#include <catch2/catch_test_macros.hpp>

#include "model.h"

using namespace test;

namespace {

Var x("x"), y("y"), yi("yi");

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("loops that depend on outer loops have their average number of iterations") {
    ImageParam in(Float(32), 1, "in");
    Func out("out");
    RDom r(0, 100, 0, 100, "r");
    r.where(r.x <= r.y);
    out() = 0.0f;
    out() += in(r.x) * in(r.y);
    const std::string nest = nest_of(out, {{}, {100}});
    INFO(nest);
    CHECK((contains(nest, "50.5 iterations") || contains(nest, "probability 0.50")));
}

TEST_CASE("equal values are computed once, and constant ones outside of the loop") {
    ImageParam in(Float(32), 2, "in"), factor(Float(32), 1, "factor");
    Func out("out");
    const Expr product = in(x, y) * factor(y);
    out(x, y) = product * product + in(x, y);
    out.vectorize(x, 16);
    const std::string nest = nest_of(out, {{256, 64}, {256, 64}, {64}});
    INFO(nest);
    // one product, and one fused with the addition
    CHECK(contains(nest, "out: 2 arithmetic 1 loads 1 stores"));
}

TEST_CASE("a shared expression is walked once, however often it is used") {
    ImageParam in(Int(32), 1, "in");
    Func out("out");
    Expr e = in(x);
    for (int i = 0; i < 64; i++)
        e = e * e + i;
    out(x) = e;
    out.vectorize(x, 16);
    CHECK(predicted(out, {{4096}, {4096}}).milliseconds > 0);
}

TEST_CASE("each term of a long sum, and of indices in indices, is walked once") {
    ImageParam in(Int(32), 1, "in"), floats(Float(32), 1, "floats");
    Func sum("sum"), last("last");
    Expr terms = floats(x), index = in(x);
    for (int i = 1; i < 64; i++) {
        terms = terms + floats(x + i);
        index = in(clamp(index, 0, 4095));
    }
    sum(x) = terms;
    last(x) = index;
    CHECK(predicted(sum, {{4096}, {4160}}).milliseconds > 0);
    CHECK(predicted(last, {{4096}, {4096}}).milliseconds > 0);
}

TEST_CASE("sliding windows compute each row once, and the first ones at the start") {
    ImageParam in(Float(32), 2, "in");
    Func bx("bx"), by("by");
    bx(x, y) = in(x, y) + in(x + 1, y);
    by(x, y) = bx(x, y) + bx(x, y + 1) + bx(x, y + 2);
    by.split(y, y, yi, 32).vectorize(x, 16);
    bx.store_at(by, y).compute_at(by, yi).vectorize(x, 16);
    const std::string nest = nest_of(by, {{256, 64}, {257, 66}});
    INFO(nest);
    CHECK(contains(nest, "for bx.s0.y, 1.062 iterations"));  // 34 rows in 32 iterations
}

TEST_CASE("a program that refuses its buffers is noticed") {
    Func out("out");
    out(x) = x;
    out.vectorize(x, 16);
    const Setup setup;
    for (auto [size, too_small] : {std::pair{8, true}, {16, false}}) {
        const Lowered l = lowered(out, {{size}}, setup.target);
        CHECK(predict::predict(l.program, l.values, setup.target, setup.machine, setup.rates)
                  .too_small == too_small);
    }
}

TEST_CASE("rates are kept as text") {
    const predict::Rates rates{4.25, 48, 26.5, 9, 30, 3, 21};
    CHECK(predict::parse_rates(predict::to_string(rates)) == rates);
    CHECK_THROWS_AS(predict::parse_rates("ghz 4\nl2 48\n"), RuntimeError);
    CHECK_THROWS_AS(predict::parse_rates("ghz 4\nl2 fast\nl3 1\nmemory 1\nmemory_of_all 1\n"),
                    RuntimeError);
}

TEST_CASE("the rates of this machine are measured") {
    const auto start = std::chrono::steady_clock::now();
    const predict::Rates rates = predict::measure_rates(256 << 10, 32 << 20, 2);
    // It takes 0.3 s. (It took 12 s: the first attempt at each cache was a thousand.)
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
    CHECK(rates.ghz > 0.1);
    CHECK(rates.l2 > 0);
    CHECK(rates.l3 > 0);
    CHECK(rates.memory > 0);
    CHECK(rates.memory_of_all >= rates.memory);
    CHECK(rates.streams > 0);
    CHECK(rates.copies > 0);
}

TEST_CASE("a condition that was decided outside is not decided again") {
    ImageParam in(Float(32), 2, "in");
    Func out("out");
    RDom r(0, 64, "r");
    r.where(x <= y);
    out(x, y) = 0.0f;
    out(x, y) += in(r, y);
    const std::string nest = nest_of(out, {{64, 64}, {64, 64}});
    INFO(nest);
    CHECK_FALSE(contains(nest, "entered 0.25"));
}

TEST_CASE("names may be bound again inside of what they are bound to") {
    // let t = (let t = .. in t * t) in .., as common subexpressions of copies of a statement are
    const Expr t = ir::make_variable(Int(32), "t"), i = ir::make_variable(Int(32), "i");
    Expr value = i / 3;
    for (int depth = 0; depth < 40; depth++)
        value = ir::make_let("t", value, t * t);
    const ir::Stmt store = ir::make_store("out", i, t);
    ir::Stmt body = ir::make_let("t", value, store);
    body = ir::make_for("i", Expr(0), Expr(64), LoopKind::Serial, body);
    const ir::Program program{"p", {{ir::Argument::Kind::OutputBuffer, "out", Int(32), 1}}, body};
    const predict::Nest nest = predict::walk(program, {{"out.extent.0", 64}}, Setup().target);
    CHECK(contains(predict::to_string(nest), "1 stores"));
}
