// Misuse of operators, Funcs, Vars and RDoms: each message names what is wrong, and where.
#include <pipe/pipe.h>

#include "test/support/require_message.h"

using namespace Pipe;

namespace {
Expr u8(const char *name = "pixel") {
    return cast<uint8_t>(Var(name));
}
}  // namespace

TEST_CASE("a constant that does not fit", "[operators][error]") {
    require_message<CompileError>([] { u8() + 256; },
                                  {"Operator +", "uint8(pixel)", "256", "does not fit", "uint8"});
    require_message<CompileError>([] { -1 * u8(); }, {"Operator *", "-1", "uint8"});
    require_message<CompileError>([] { select(Var("x") > 0, u8(), 300); },
                                  {"select", "300", "uint8"});
    require_message<CompileError>([] { clamp(u8(), -5, 3); }, {"clamp", "-5", "uint8"});
}

TEST_CASE("operands of types that do not go together", "[operators][error]") {
    Expr x = Var("x"), f = cast<float>(x);
    require_message<CompileError>([&] { x && (x > 1); },
                                  {"Operator &&", "'x' (int32)", "'x > 1' (bool)"});
    require_message<CompileError>([&] { !x; }, {"Operator !", "'x' (int32)"});
    require_message<CompileError>([&] { (x > 1) + (x > 2); },
                                  {"Operator +", "'x > 1' (bool)", "Cast"});
    require_message<CompileError>([&] { f &x; },
                                  {"Operator &", "'float32(x)' (float32)", "integers"});
    require_message<CompileError>([&] { x << f; }, {"Operator <<", "float32"});
    require_message<CompileError>([&] { select(x, 1, 2); }, {"select", "'x' (int32)", "bool"});
    require_message<CompileError>([&] { select(x > 1, x, f); },
                                  {"select", "'x' (int32)", "'float32(x)' (float32)"});
    require_message<CompileError>([&] { reinterpret<int64_t>(f); }, {"reinterpret", "int64"});
}

TEST_CASE("undefined Exprs", "[operators][error]") {
    Expr x = Var("x"), none;
    require_message<CompileError>([&] { x + none; },
                                  {"Operator +", "'x' (int32)", "an undefined Expr"});
    require_message<CompileError>([&] { sqrt(none); }, {"sqrt", "undefined"});
    require_message<CompileError>([&] { none.type(); }, {"undefined Expr"});
}

TEST_CASE("a Func that is used before it is defined", "[func][error]") {
    Var x("x");
    Func f("late"), g("g");
    require_message<CompileError>([&] { g(x) = f(x) + 1; },
                                  {"'late'", "language.cpp:", "before it is defined"});
    require_message<CompileError>([&] { f.realize({10}); }, {"'late'", "no definition"});
    require_message<CompileError>([&] { f.value(); }, {"'late'", "no definition"});
    f(x) = x;
    CHECK_NOTHROW(g(x) = f(x) + 1);  // everything is usable afterwards
}

TEST_CASE("wrong arity", "[func][error]") {
    Var x("x"), y("y");
    Func f("f"), g("g");
    f(x, y) = x + y;
    require_message<CompileError>([&] { g(x) = f(x); },
                                  {"'f'", "language.cpp:", "2 dimensions (x, y)", "1 arguments"});
    require_message<CompileError>([&] { f(x) = 3; },
                                  {"update 0 of Func 'f'", "1 arguments", "2 dimensions"});
    ImageParam in(UInt(8), 2, "in");
    require_message<CompileError>([&] { in(x); },
                                  {"'in'", "2 dimensions", "1 arguments", "language.cpp:"});
    Buffer<int> buffer(4, 4, "data");
    require_message<CompileError>([&] { buffer(x); }, {"'data'", "2 dimensions", "1 arguments"});
}

TEST_CASE("types of definitions", "[func][error]") {
    Var x("x");
    Func f("f");
    f(x) = u8("x");
    require_message<CompileError>(
        [&] { f(x) = cast<float>(x); },
        {"update 0 of Func 'f'", "language.cpp:", "'float32(x)' (float32)", "uint8"});
    require_message<CompileError>([&] { f(x) = 300; }, {"'f'", "300", "uint8"});
    require_message<CompileError>([&] { f(x) = Tuple(u8(), u8()); },
                                  {"2 values", "the Func has 1"});
    require_message<CompileError>([&] { f(cast<float>(x)) + 1; },
                                  {"'f'", "Coordinate 0", "float32", "cast<int>"});
}

TEST_CASE("Vars of pure definitions", "[func][error]") {
    Var x("x"), y("y");
    Func f("f");
    require_message<CompileError>([&] { f(x, x) = 1; }, {"'f'", "'x'", "two arguments"});
    require_message<CompileError>([&] { f(x) = y; },
                                  {"'f'", "language.cpp:", "'y'", "none of the arguments (x)"});
    require_message<CompileError>([&] { f(x + 1) = 1; }, {"'f'", "'x + 1'", "no Var"});
    f(x) = 0;
    require_message<CompileError>([&] { f(0) = y; }, {"update 0", "'y'"});
    require_message<CompileError>([&] { f(x) = f(x - 1); }, {"update 0", "'x - 1'", "'x'"});
}

TEST_CASE("an RDom outside its Func", "[rdom][error]") {
    Var x("x");
    RDom r(0, 10, "r"), s(0, 5, "s");
    Func f("f");
    require_message<CompileError>([&] { f(x) = x + r; },
                                  {"'f'", "language.cpp:", "RDom 'r'", "pure definition", "sum()"});
    require_message<CompileError>([&] { f(r) = 0; }, {"'f'", "'r$x' is an RVar"});
    f(x) = 0;
    require_message<CompileError>([&] { f(r) += s; }, {"update 0", "two RDoms", "'r'", "'s'"});
    require_message<CompileError>([&] { sum(x + 1); }, {"sum", "no RVar"});
    require_message<CompileError>([&] { sum(r + s); }, {"sum", "several RDoms"});
    require_message<CompileError>([&] { RVar("loop") + 1; }, {"'loop'", "belongs to no RDom"});
    require_message<CompileError>([&] { RDom(0, x, "bad"); }, {"'bad'", "extent", "'x'"});
    require_message<CompileError>([&] { r[1]; }, {"'r'", "1 dimensions"});
    f(r) += 1;
    require_message<CompileError>([&] { r.where(r > 2); }, {"'r'", "where()", "Put it before"});
}

TEST_CASE("rings of Funcs", "[func][error]") {
    Var x("x");
    Func f("f"), g("g");
    f(x) = x;
    g(x) = f(x) + 1;
    require_message<CompileError>([&] { f(x) += g(x); },
                                  {"update 0 of Func 'f'", "reads Func 'g'", "ring"});
    Func h("h");
    require_message<CompileError>([&] { h(x) = h(x - 1); }, {"'h'", "before it is defined"});
}

TEST_CASE("several values", "[func][error]") {
    Var x("x");
    Func f("f");
    f(x) = Tuple(x, x);
    require_message<CompileError>([&] { f(x) + 1; }, {"'f'", "2 values", "[i]"});
    require_message<CompileError>([&] { f(x)[2]; }, {"'f'", "no value 2"});
    require_message<CompileError>([&] { f.value(); }, {"'f'", "values()"});
}

TEST_CASE("Params and ImageParams", "[param][error]") {
    Param<uint8_t> p("gain");
    require_message<CompileError>([&] { p.set_range(0, 256); }, {"'gain'", "256", "uint8"});
    ImageParam in(UInt(8), 2, "in");
    require_message<CompileError>([&] { in.dim(2); }, {"'in'", "2 dimensions", "dimension 2"});
    require_message<RuntimeError>([&] { in.set(Buffer<float>(3, 3)); },
                                  {"'in'", "uint8", "float32"});
    require_message<RuntimeError>([&] { in.set(Buffer<uint8_t>(3)); },
                                  {"'in'", "2 dimensions", "1 dimensions"});
    require_message<CompileError>([&] { ImageParam().dim(0); }, {"undefined ImageParam"});
}
