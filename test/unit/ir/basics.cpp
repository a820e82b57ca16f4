// Printing, comparison, substitution, verification.

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "ir/equal.h"
#include "ir/print.h"
#include "ir/substitute.h"
#include "ir/verify.h"
#include "support/random_expr.h"

using namespace Pipe;
using namespace Pipe::ir;
using Catch::Matchers::ContainsSubstring;

namespace {

Expr var(const std::string &name, Type type = Int(32)) {
    return make_variable(type, name);
}
Expr op(Op o, Expr a, Expr b) {
    return make_binary(o, std::move(a), std::move(b));
}

std::string verify_error(const Stmt &s, const VerifyOptions &options) {
    try {
        verify(s, options);
    } catch (const InternalError &e) {
        return e.what();
    }
    return "";
}

}  // namespace

TEST_CASE("expressions print with the parentheses they need") {
    Expr x = var("x"), y = var("y");
    CHECK(to_string(op(Op::Mul, op(Op::Sub, x, op(Op::Add, y, Expr(3))), Expr(2))) ==
          "(x - (y + 3)) * 2");
    CHECK(to_string(op(Op::Sub, op(Op::Sub, x, y), x)) == "x - y - x");
    CHECK(to_string(op(Op::Add, x, Expr(-3))) == "x - 3");
    CHECK(to_string(op(Op::And, op(Op::LT, x, y), make_not(op(Op::EQ, x, y)))) ==
          "x < y && !(x == y)");
    CHECK(to_string(make_call(Float(32), "f", {x, y}, CallKind::Func)) == "f(x, y)");
    CHECK(to_string(make_call(Float(32), "f", {x}, CallKind::Func, 1)) == "f(x)[1]");
    CHECK(to_string(Expr(0.1f)) == "0.1f");
    CHECK(to_string(Expr(2.0)) == "2.0");
    CHECK(to_string(Expr(uint8_t(3))) == "uint8(3)");
    CHECK(to_string(make_load(Int(8), "b", x, op(Op::LT, x, y))) == "b[x if x < y]");
    Expr shared = x;
    for (int i = 0; i < 100; i++)
        shared = op(Op::Mul, shared, shared);
    CHECK(to_string(shared).size() < 2000000);
}

TEST_CASE("statements print as loops") {
    Expr x = var("x"), n = var("n");
    Stmt provide = make_provide("g", {x, Expr(0)}, {x}, op(Op::LT, x, n));
    Stmt loop = make_for("x", Expr(2), n, LoopKind::Parallel, make_let("t", n, provide));
    CHECK(to_string(make_block({make_let("u", x, make_evaluate(x)), loop})) ==
          "{\n"
          "  let u = x\n"
          "  evaluate x\n"
          "}\n"
          "for x in [2, 2 + n) parallel {\n"
          "  let t = n\n"
          "  g(x, 0) = x if x < n\n"
          "}\n");
}

TEST_CASE("compare is a total order that agrees with equal and hash") {
    std::vector<Expr> exprs{Expr()};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        test::RandomExpr random(seed), again(seed);
        Type type = random.scalar_type();
        again.scalar_type();
        exprs.push_back(random.make(type, 3));
        exprs.push_back(again.make(type, 3));
        CHECK(equal(exprs[exprs.size() - 1], exprs[exprs.size() - 2]));
    }
    for (const Expr &a : exprs)
        for (const Expr &b : exprs) {
            int order = compare(a, b);
            if (order != -compare(b, a))
                FAIL("not antisymmetric: " << a << " and " << b);
            if ((order == 0) != equal(a, b))
                FAIL(a << " and " << b);
            if (order == 0 && hash(a) != hash(b))
                FAIL("hash of " << a);
            for (const Expr &e : exprs)
                if (order <= 0 && compare(b, e) <= 0 && compare(a, e) > 0)
                    FAIL("not transitive");
        }
}

TEST_CASE("comparing and hashing graphs with much sharing") {
    Expr a = var("x"), b = var("x");
    for (int i = 0; i < 100; i++) {
        a = op(Op::Mul, a, a);
        b = op(Op::Mul, b, b);
    }
    CHECK(equal(a, b));
    CHECK(hash(a) == hash(b));
    CHECK(uses_var(a, "x"));
    CHECK(!uses_var(a, "y"));
    CHECK(uses_var(substitute("x", var("y"), a), "y"));
}

TEST_CASE("substitution respects bindings") {
    Expr x = var("x"), y = var("y");
    CHECK(to_string(substitute("x", Expr(1), op(Op::Add, x, y))) == "1 + y");
    CHECK(to_string(substitute({{"x", y}, {"y", x}}, op(Op::Sub, x, y))) == "y - x");
    Expr let = make_let("x", op(Op::Add, x, Expr(1)), op(Op::Mul, x, y));
    CHECK(to_string(substitute("x", Expr(5), let)) == "let x = 5 + 1 in x * y");
    CHECK(to_string(substitute("y", x, let)) == "let x_ = x + 1 in x_ * x");
    Stmt loop = make_for("x", x, y, LoopKind::Serial, make_store("b", x, y));
    CHECK(to_string(substitute("x", Expr(5), loop)) == "for x in [5, 5 + y) {\n  b[x] = y\n}\n");
    CHECK(to_string(substitute("y", x, loop)) == "for x_ in [x, x + x) {\n  b[x_] = x\n}\n");
    CHECK(free_vars(loop) == std::set<std::string>{"x", "y"});
    CHECK(free_vars(make_for("x", Expr(0), y, LoopKind::Serial, make_store("b", x, y))) ==
          std::set<std::string>{"y"});
}

TEST_CASE("verify finds what is not defined") {
    Expr x = var("x");
    VerifyOptions options;
    options.buffers = {"b"};
    Stmt store = make_store("b", x, x);
    CHECK_THAT(verify_error(store, options), ContainsSubstring("variable is not defined here: x"));
    CHECK(verify_error(make_for("x", Expr(0), Expr(4), LoopKind::Serial, store), options).empty());
    Stmt other = make_let("x", Expr(1.0f), store);
    CHECK_THAT(verify_error(other, options), ContainsSubstring("type float32 is used as int32"));
    // The variable of one loop means nothing after it.
    Stmt after = make_block({make_for("x", Expr(0), Expr(4), LoopKind::Serial, store), store});
    CHECK_THAT(verify_error(after, options), ContainsSubstring("not defined"));
    CHECK_THAT(verify_error(make_store("c", Expr(0), Expr(0)), options),
               ContainsSubstring("no buffer c"));
    Stmt allocated =
        make_allocate("c", Int(32), {Expr(4)}, MemoryType::Auto, make_store("c", Expr(0), Expr(0)));
    CHECK(verify_error(allocated, options).empty());
    Stmt wrong =
        make_allocate("c", Int(16), {Expr(4)}, MemoryType::Auto, make_store("c", Expr(0), Expr(0)));
    CHECK_THAT(verify_error(wrong, options), ContainsSubstring("elements of type int16"));
    Stmt provide = make_provide("f", {Expr(0)}, {Expr(0)});
    CHECK(verify_error(provide, options).empty());
    options.flattened = true;
    CHECK_THAT(verify_error(provide, options), ContainsSubstring("provide after flattening"));
}

TEST_CASE("verify knows the arguments of a program") {
    Argument in{Argument::Kind::InputBuffer, "in", Float(32), 2},
        gain{Argument::Kind::Scalar, "gain", Float(32), 0};
    Argument out{Argument::Kind::OutputBuffer, "out", Float(32), 1};
    Expr value = op(Op::Mul, make_load(Float(32), "in", var("in.stride.1", Int(64))),
                    var("gain", Float(32)));
    Program program{"p", {in, gain, out}, make_store("out", var("out.min.0"), value)};
    CHECK_NOTHROW(verify(program));
    program.args.erase(program.args.begin() + 1);
    CHECK_THROWS_AS(verify(program), InternalError);
}
