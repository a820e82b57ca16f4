// Type matching and constant folding of operators.
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include <sstream>

#include "ir/equal.h"
#include "ir/print.h"

using namespace Pipe;

namespace {

Expr var(Type type, const char *name = "a") {
    return ir::make_variable(type, name);
}
const Expr i8 = var(Int(8)), u8 = var(UInt(8)), i16 = var(Int(16)), u16 = var(UInt(16)),
           i32 = var(Int(32)), u32 = var(UInt(32)), f32 = var(Float(32)), f64 = var(Float(64)),
           b = var(Bool());

}  // namespace

TEST_CASE("a literal takes the type of the other operand", "[operators]") {
    CHECK((u8 + 1).type() == UInt(8));
    CHECK((1 + u8).type() == UInt(8));
    CHECK((i16 * -3).type() == Int(16));
    CHECK((f32 / 3).type() == Float(32));
    CHECK((f64 - 1).type() == Float(64));
    CHECK(ir::to_string(u8 + 255) == "a + uint8(255)");
    CHECK(max(u16, 7).type() == UInt(16));
    CHECK((u8 & 15).type() == UInt(8));
    CHECK((u8 << 2).type() == UInt(8));
    CHECK((u8 < 3).type() == Bool());
}

TEST_CASE("operands of two types", "[operators]") {
    CHECK((u8 + u16).type() == UInt(16));
    CHECK((i8 + i32).type() == Int(32));
    CHECK((u32 + i8).type() == Int(32));
    CHECK((u8 + i8).type() == Int(8));
    CHECK((u8 + f32).type() == Float(32));
    CHECK((f32 + f64).type() == Float(64));
    CHECK((i32 + 1.5).type() == Float(64));
    CHECK((f32 + 1.5f).type() == Float(32));
    CHECK((b + u8).type() == UInt(8));
    CHECK((f32 == i32).type() == Bool());
    CHECK((u8 << i16).type() == UInt(16));
    CHECK((i8 & u32).type() == UInt(32));
}

TEST_CASE("results of functions", "[operators]") {
    CHECK(abs(i16).type() == UInt(16));
    CHECK(abs(f32).type() == Float(32));
    CHECK(abs(u8).same_as(u8));
    CHECK(absd(u8, u16).type() == UInt(16));
    CHECK(absd(i8, i8).type() == UInt(8));
    CHECK(sqrt(i32).type() == Float(32));
    CHECK(sqrt(f64).type() == Float(64));
    CHECK(is_nan(f64).type() == Bool());
    CHECK(clamp(i16, 0, 255).type() == Int(16));
    CHECK(clamp(i32, u8, i16).type() == Int(32));
    CHECK(select(b, u8, 3).type() == UInt(8));
    CHECK(select(b, 3, f32).type() == Float(32));
    CHECK(select(b, 1, f32 > 2, 2, 3).type() == Int(32));
    CHECK(Pipe::min(u8, u8, u16).type() == UInt(16));
    CHECK(Pipe::min(u8, 3, 5).type() == UInt(8));
    CHECK(ir::to_string(Pipe::max(Expr(1), 2, 7, 4)) == "7");
    CHECK(ir::to_string(Pipe::min(4, 2, Expr(7))) == "2");
    CHECK(ir::to_string(pow(f32, 3)) == "a * a * a");
    CHECK(pow(f32, f32)->name == "pow_f32");
    CHECK(lerp(u8, u8, u8).type() == UInt(8));
    CHECK(undef<float>().type() == Float(32));
}

TEST_CASE("operations on constants are carried out", "[operators]") {
    auto is = [](const Expr &e, const Expr &value) { return ir::equal(e, value); };
    CHECK(is(Expr(7) / 2, Expr(3)));
    CHECK(is(Expr(-7) / 2, Expr(-4)));
    CHECK(is(Expr(-7) % 2, Expr(1)));
    CHECK(is(Expr(-7) / -2, Expr(4)));
    CHECK(is(Expr(-7) % -2, Expr(1)));
    CHECK(is(Expr(5) / 0, Expr(0)));
    CHECK(is(Expr(5) % 0, Expr(0)));
    CHECK(is(cast<uint8_t>(300), Expr(uint8_t{44})));
    CHECK(is(cast<int8_t>(200), Expr(int8_t{-56})));
    CHECK(is(cast<int>(-2.7f), Expr(-2)));
    CHECK(is(cast<bool>(2), Expr(true)));
    CHECK(is(Expr(uint8_t{200}) + Expr(uint8_t{100}), Expr(uint8_t{44})));
    CHECK(is(Expr(uint64_t{1} << 63) / Expr(uint64_t{2}), Expr(uint64_t{1} << 62)));
    CHECK(is(Expr(0.1f) + Expr(0.2f), Expr(0.1f + 0.2f)));
    CHECK(is(Expr(1) < 2, Expr(true)));
    CHECK(is(select(Expr(true), 1, 2), Expr(1)));
    CHECK(is(min(Expr(3), 2), Expr(2)));
    CHECK(is(!Expr(true), Expr(false)));
    CHECK(is(-Expr(3), Expr(-3)));
    CHECK(is(abs(Expr(-3)), Expr(3u)));
    CHECK(is(Expr(6) & 3, Expr(2)));
    CHECK((Expr(INT32_MAX) + 1)->op == ir::Op::Add);  // undefined: left alone
}

TEST_CASE("&& and || with a constant side", "[operators]") {
    CHECK((b && Expr(true)).same_as(b));
    CHECK((Expr(false) || b).same_as(b));
    CHECK(ir::equal(b && Expr(false), Expr(false)));
    CHECK(ir::equal(Expr(true) || b, Expr(true)));
}

TEST_CASE("in place, the type stays", "[operators]") {
    Expr e = u8;
    e += 1;
    CHECK(e.type() == UInt(8));
    e *= f32;
    CHECK(e.type() == UInt(8));
}

TEST_CASE("Vars, RVars, Params and images are values", "[operators]") {
    Var x;
    RDom r(0, 4);
    Param<float> p("p");
    ImageParam in(UInt(8), 2, "in");
    Buffer<int16_t> buffer(4, 4);
    CHECK((x + 1).type() == Int(32));
    CHECK((x + r).type() == Int(32));
    CHECK((p * 2).type() == Float(32));
    CHECK((in(x, 0) + 1).type() == UInt(8));
    CHECK((in.width() - 1).type() == Int(32));
    CHECK((buffer(x, x) / 2).type() == Int(16));
}

TEST_CASE("<pipe/pipe.h> prints expressions to streams", "[operators]") {
    std::ostringstream text;
    Var x("x");
    RDom r(0, 10, "r");
    text << x + 1 << "; " << x << "; " << UInt(8) << "; " << r;
    CHECK(text.str() == "x + 1; x; uint8; RDom r: r$x in [0, +10)");
}
